"""Pure ranking functions: keyword weights, calibration, fusion."""
