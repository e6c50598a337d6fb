"""What all of multilingual-e5's vectors have in common, taken out so that a cosine means something.

The model puts every text into one narrow cone: unrelated English notes have a cosine near 0.75,
unrelated Chinese notes near 0.84, above most related English ones, so that no threshold serves
both.  Subtracting the common mean, and the three directions in which languages differ most, puts
unrelated texts of all languages near 0 and orders related ones better ("all-but-the-top", Mu &
Viswanath 2018).  The constants come from 250 invented sentences in twelve languages, written for
this purpose (`benchmarks/e5_frame`); no evaluation data went into them.
"""

from __future__ import annotations

import base64
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_DIMS = 384
_LANGUAGE_DIRECTIONS = 3

# Five rows of 384 little-endian float16 in base 85: the mean of passages, the mean of queries,
# and the language directions.
_FRAME = (
    "Un;br8KuLktu1P%qoRExLM*l>kSQ`7u`EcV2&@?>KP+9T)TySbcqRarsi<TsT`J5g$EeIE*(f@$->Uzqq9|3XH7oxor>WViH"
    "!9<)r>IUOX(?1Kcq;QL3ajZU=Bsw62dRWAT^~0p2PHwP%Bq~KAFb&rWh{jr#UiC8%q-d}LMrhoiKt|wpQ_m^SrP=OxE<prR4"
    "HAmK_;N6R;#3`7pV#;kE^{ai7HyFN-O!H2rNV^qNZS~Ev!+g4Xe;8Y%9s9L@W5F;vn~|xT$I=BPtTBaVqhv(WreWk0@Ixovb"
    "~mBd8jxaVb!$j48#aDyajeMykf8B`S$0IwW_WfGGqfV;LGJ7$|)$Q>eF-5u44X!l)N2gQ>YFz9~^D;wxFFEiG@W$|MD-HYzG"
    "6I4X0gG_266ASuc!QmF#0^Q?WPRIF^N1u2p&U#o(h%BQR()TpZ`^^IODUZ^f7=`0~BWTCXDfvU5q$Et6s7^!n6(kE4;ZlOyl"
    "@Th&Plc_r=+NsPc5Gsl&ogwq6a42aglPO6RC9M)Ek*Mt{Cn=h&C99h(Ev$%_5hQymVyWaMzbYD~)hN!a<fyhO-6}|`W~#3!*"
    "r-pX8LZN)?W*3Y-66;)!z!VwTA_Zb^(Hf{$1BRFo~fH83!aZCR4Z?*C8_ePL8gN#B`g;#Ua8wA!6%8N3oTSCd@E@vM676~A*"
    "__9#H-*ZjVVv81FEm5Vksvr+Nde0PboAhLnc%zttv;Q(5GoCtf<7Km!z+$X)4L7fGXW3DjJb1?y3DK1gEX43@C{tovrOB1R<"
    "{`0V4z{2P}CiLaWB6S0_9vIw8{?X{K?i*{T?+o23-07APhu(y7d-G%Il^swUi~C8|X!SgKd1$EgS^p{XXTkSCNY?5L9}C8vI"
    "@Whz;slBoMAHz}m8+#)Y3uBBfouc?x$m?)$vd8}BZb}1z(iYu}x3!vAbMJFt*&njgq2&w0sv8A-D3#kJtr>PdKSSq|MNh#zi"
    "T`QBNoT*@`0WG?z10pjh%PR^YS1F?)%q#DvwyLcu4lKQ?->5#UA1G=h4yzC<(<<O8FQ<7YM=I2;L8{rR_9&RDR4m3QDymYdW"
    "Gfr0Hm36?jVgC6vME(7%cyZG7pqXF2dY&n-X`2CHYn<=*{VFOF03#szAGN3&mpKL7%WjKODd!(@2Xp-lBw<~sw5GpMHCPtjV"
    "QgTTqk3xwyTV({HU!bPpe}q$10PmN-IgB%qu-BbErtFRjdQ5v8VhfFf4kfNh=+wL?C0U9jON=)hZ6E<|!1b#Hds$0xC5sl&r"
    "s|m84~=vM6t=Xe*JZovNLvp{bXtJ1Ckdhb1^8J}HJK0V8=PwkR1a{;3C`C7v;-K&fOYhN|Ex+A5hSA1#=s#Vnbr@*`TPmnzI"
    "D6DZ`U>8jhQKq&_*<*K)=)vPn77OWen?kKz~9;vLR!KVHucB>UABAiPrCa6FueJm|0n5H|YWvh9r1+2=dNvhi>KPVET)}UD_"
    "FR9<FwyA_BzpExHh$?6(UY~EM{w5YED=G;e%BwLb0IIMlz$u=r>Z|1|v#H9WoFRxRv8abBVkwlRMks}?7^ng%kST4cU8e;pM"
    "yvU!&8d2=%&9c2qNEoos44}lF{P=h4k+KOPbx2|si@E=si8t9Co5sBxTuz_qo?O6_9}BM0;*pqpd^f-d@Tqoo++&-W2^C^U8"
    "-@VhO2ca0xFZLkg2z)Qz@e@J*k|ge=8L#-6!rVNGZ&ylc+T+6sWVL0-U#|11nIdS1L&)d>9fe#j5=%Zm1%tb|vB^0IiWIk|9"
    "YXJSCPYhbxLHvZ?5)9wt^Oa+TX4eX3xoeyYu=n5G1*+9~%a2&~hoL@FdDx+A`*tEyTn{i%SazNv#Ms;6$NjVE3zP^tMTvZv9"
    "jM<_L>U8)Bv;3%lA^&@{PN~Ibpc%vw)9x2!;4y>%GIw}q*yDM)eshk^~SSMwx2`sBBU8<TKq^5tV@vGe_Q>o#pcq#oXXDQ<<"
    "kt=JQqo~#@ek%VdS*AW5=PV7Y38>wyNhdigw5Io`OdhzY7cD%gTq#&A(Wr$Xizsld$gNE&o+REVfhe#gtRhS(-6^^&e;e{6W"
    "~ij4q%DCF`zuT%0I6*(b{~=}ajjD*k0|k@`6(Tlkf=Kyk1b!STB@Ba3@i>Q)+LIj0W18ba3%(q!XjBI{w(1uRw#p~_#B$99x"
    "7)iMIfE5sjev?1}Jf<psL`joum~fRh~#Iz@|$kA}Ly=8L6+Kl_yuMP!!uOVJ2OrpRnR8z^L3RgDexM6s*rC$)vL=Kc?d-lcd"
    "(C^(p+PnkkQ@g{`Ql#t?BW9;suknH)$a4X{gyNUW?Vm7@iz2&%%S0--`IoT?S4L@duJa->xydnVeXa;WyKimEp$_8!KpjwRh"
    "JG?IxHV=x${%_$hCiK>O96s7&CVyG^!Tcf6+E-PRuqAi3aEU1619wJUD=`2#Poh?o(8K3_i52>{wfhqPYpD70+N-3Z!l%*~!"
    "Fsz9xypZ6pv!B<YU8Y<s+9t=SKCPUnOsPe!K&!!}7^vf=+@+bC!>ebY`KiSytffUHJ0-BFJgrk9U9e@O&n&Mb45|evFe8Mb2"
    "&>^GRxH=3ETXQhYa7F$;3V*=ATK$rOsiR!Rwb6I0hY8W5FtkvRjY}pP9P?$5G9135-OD`bSUyDsj2xWQ6_F82qzS+vnA>%kt"
    "G`^9V=U_J1{J&7aa$unk!{6YOJUuE+w=mprp~L5G0+e!i6@fa3wn?2`I5K2dfvV=A-?mfT`URgs}V;v#u^Lm?OliDytML7$`"
    "HX*(fI{xho?TcPgo-Ypas0WGDEcAt$CTsw&eeb{RpWCn8j?&Z}UhXe`tyd!{rbp(cf>pC~q_QmvCA->Ix6TcQUqkSz5lQK$+"
    "gBCvuefF#(EUaE~O$)yY|hb4-jrIMbguqqTLysAX1rX<fG=phuQ;4IB5AuWBUYAIQqh^;uJ4z6*gH?IhwQ77>rG^`gIf(e78"
    "5-MA)gC!-V@RoBW<R>vHpr&ywt&S*}doC3(HmHIj$Q3J=D=GIZE+(_2t*sv<t*26{_%2;1q9Na-0;nUcP^`(I-X)-?FD{vfc"
    "%zc2j;t@G!Kw!<Zz^9Q|0PQ$1*Iz_>>&rJ2`oV=%c3qO?k8m=P$khO&8u=Slq&Qn$Sv}u{HJW8W-7<5nILPav8oFxy{|{8pe"
    "diJ%rHwR4yYNN$Ee_=Ag8;d<0G4<Kc({{+9?JsZ6&!N3?nh5QKbheccy420IG2s5iHCmEvxn?Kdw5XEu_w=xS{c;%OEGA_@z"
    "1|B`i&@ADmRK@D~py6)T#o3M-_Yqb=pBSf=BvI;>SG&n`bKmnK4`ZYb8GSD_83@D?_#%cj<=N~z+iGb~~#*(*`55u~526fN4"
    "KPos(&aH)JP5v}APDWJ`*0jH;|3ok#d#;$lQ$f2hxpr>mvrK7wn0jQKK2d!cz;U*WT5g;R%$|UcWBq5Eg^rWArGN^K(d@LfQ"
    "rlDJ_dZs6+MJBu>v>l11x+emtrkxip%Ov6~HkkvgimkYuV5CtiHJm>wEv?!rsHc{z#ixEI8zvtg2%rwK$}D@Us;~g50I9~KR"
    "wJe<ek|vwv#epJYb!Y|yBxKVU#J_VQY<?Whbn`ob|>B}u%X(k-!3?&%B!9pM<#A4Af(=)POP4)3MNjeK`FE;W}=3wwxPl*>8"
    "Exjq$OD+;VPyk>?Rl`@+Ih}o~TfqcPwbC<tlqD-K!KS#I30#=_|M_DJw}RxGf~B)E6tFcPhP{d?pI0b1Mz0H=3!RSg{MNqn?"
    "ng2Pt16JSdYRwV76{?5ZHG!Yo-UF|5&_KdlfYT&+>3Y97|8?xtcNGpr=5(<vsbY$P`;%qgL#m7*G*5ic<)Iw~G1MkcGJlpp;"
    "XoFeun93`4A_O5#>4J1D*7%KcKS)sozEvURFQKqe&b)fd7$Sd%nl_<TjgevGJZKw4q9h`}-8koH#t*Nc2EhHW%hATv+G9%L^"
    "Q7Hqf6DB_>_bg7L+#+wO%qjLS&MI}3ARyo#R4Sj4@h1r&?kdl!86;8~mZ&W)VW&$Sd#A3T>ZJH2OrpM}RIp?rETjM<-YHZi;"
    "3hw%r7)r@1uC1UMJ78Y1E>KkU@EdD>#aT`;U~%#=P#};>mbh@RHfIXJ|Z)zs3;ew1}N+!ZLFp#IVtC&fRvQ27AO0rx2P5>S)"
    "|dSBBbo8-lZofPof^G530l>#;7wXbt;mq-KFfQQ>>DyN~p#su&Ldu#waqKh^a>+Rw+F&cN{yY-Kwvkqn$1x)v1`GQ!G^}CzX"
    "e(ksCB8cBWS(k0vQ1hOa-YOefSWrJ`S=mMvZ>(WYD<`6yc_c_zr1^`K)E0<B3T87;yqXev1?<1D48p%$s83o8049W92ayd-Q"
    "Ct*f~wGbu<RcqDffRi?5l=Bv-Ftt`l?;VUE~=Pjq9lc|cOORRS#jVAFRiV4c8VJJ%wWvcHRD69mh4kp$oK&?5UG${<FjH=5b"
    "(x>;V&LHKV87Zl$;V6iy+blLK@Tkisc&?SDE~lL+R;&l3(<@V;Wvn3~L@J+~aH#F2f2f`%I4XClZ?aviimiUE7$Fm?nJi)}u"
    "%f`FS}lL0FD1_@+Nl62n5K>>9;f;xCN8e0wXCTqI46218!RNSPOhP-uq898e4Iz3VyK~}Mx<=0J**cYlN&v(Y^@Hft0`|TgD"
    "3>6U938r->MxWY^w;X7OZG2K^>_s38}-U11>o%N~t6&yry0$U!-alWFY`7_NO$g)h}PBf0}zK&Mt74uB`>9%_M;?#++5K8=7"
    "}45uKr|2(3M?V<|?dFfJw}@Twf8JS#4tH7sPCRv{3jqO4D_c%kDcdakveaxC1d*DB|zzb7OqiYFE*P%J2xou^c-&#M<CSRL6"
    "axu{?!f2;DSPb_bqH6C>-n=2$3#isPB*R6-61}J-{eX9X0vZ*U8Td8(1peST6`yYoYo+_@VK%4)ps4RD#<{K0)ouvdG92g3y"
)


@lru_cache(maxsize=1)
def frame() -> NDArray[np.float32]:
    """Return the constants, float32 (5, 384): two means and three directions."""
    raw = np.frombuffer(base64.b85decode(_FRAME), dtype="<f2")
    return raw.astype(np.float32).reshape(2 + _LANGUAGE_DIRECTIONS, _DIMS)


def centre(vectors: NDArray[np.float32], *, is_query: bool) -> NDArray[np.float32]:
    """Return unit rows (n, 384) without what all passages, or all queries, have in common."""
    rows = frame()
    directions = rows[2:]
    moved = vectors - rows[1 if is_query else 0]
    moved = moved - (moved @ directions.T) @ directions
    return (moved / np.linalg.norm(moved, axis=-1, keepdims=True)).astype(np.float32)
