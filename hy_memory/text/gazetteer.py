"""Names that are known beforehand: given names, surnames, countries, cities, titles.

Short lists of the most common ones, for precision: a rule that is sure because it knows the
name.  What is not listed is still found by its form and its surroundings.
"""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """Return the words of a list that is written as running text."""
    return frozenset(text.split())


GIVEN_NAMES = names("""
aaron abby abigail adam adrian adriana agnes ahmed aisha akira alan albert alejandro alex alexander
alexandra alfred ali alice alicia alina alison allison alyssa amanda amelia amir amy ana anastasia andre
andrea andreas andrew andy angela angelina anita anja ann anna anne annie anthony anton antonio aoife
arjun arthur asha ashley astrid audrey barbara bart beatrice ben benjamin bernard bernd beth bethany betty
bianca birgit bjorn bob bobby boris brad bradley brandon brenda brendan brett brian bridget bruce bruno
bryan caitlin caleb calvin cameron camila camille carina carl carla carlos carmen caroline carolyn carrie
cassie catherine cathy cecilia cedric celeste celine charles charlie chiara chloe chris christina
christine christoph christopher chuck cindy claire clara clarissa claudia claudio clara clarence clemens
colette colin colleen connie connor conrad corinne cory craig curtis cynthia daniel daniela danielle danny
darius darren dave david deborah debra deepak denis denise dennis derek diana diane diego dieter dirk
dmitri dominic dominique donald donna doris dorothy doug douglas duncan dwayne dylan eddie edgar edith
eduardo edward edwin eileen elaine eleanor elena eli elias elijah elisa elise elizabeth ella ellen ellie
elliot elsa emil emily emma eric erica erik erika erin ernest esther ethan eugene eva evan evelyn fatima
felix fernando fiona fiona frances francesca francis francois frankie franz fred freddie frederick frida
friedrich fritz gabriel gabriela gabriella gareth gary gavin gemma geoff george georgina gerald gerard
giovanni giulia gloria gordon graham greg gregory greta gretchen guillaume gunter gustav hana hannah hans
harold harriet harry harvey hassan heather hector heidi helen helena helga henrik henry herbert hiroshi
howard hugo ian ibrahim imran ines inga ingrid irene irina isaac isabel isabella isabelle ivan jackie
jacob jacqueline jacques jaime jake james jamie jan jana jane janet janice jared jason javier jean
jeanette jeff jeffrey jelena jenna jennifer jenny jens jeremy jerome jerry jesse jessica jill jim jimmy
joan joanna joanne joao joe joel joey johan johanna johannes john johnny jon jonas jonathan jorge jose
josef joseph josephine josh joshua joy joyce juan juanita judith judy julia julian juliana julie juliet
jun jung jurgen justin kai karen karin karl karla kate katerina katherine kathleen kathryn kathy katie
katja katrina kavita kayla keith kelly ken kenji kenneth kevin kim kimberly klaus kristen kristin kristina
kurt kyle lara larry lars laura lauren laurie lea leah lena leo leon leonard leonardo leslie liam lin
linda lindsay lindsey lisa liz lorenzo lori lorraine louis louise luca lucas lucia lucy luigi luis luisa
lukas luke lydia lynn maeve maggie malcolm manuel marc marcel marco marcus margaret margot maria mariam
marianne marie marilyn marina mario marion marisa marjorie marta martha martin martina marty marvin mary
mason mateo mathieu matt matteo matthew matthias maureen maurice max maxine maya megan mei melanie melissa
meredith mia michael michelle miguel mikael mike mikhail mila miles milo mina miranda miriam mitch mohamed
mohammed molly monica monika morgan moritz muhammad mustafa nadia nadine nancy naomi natalia natalie
natasha nate nathan neha neil nelson nicholas nick nicolas nicole nigel nikhil nikita nikolai nina noah
noel nora norman oleg olga oliver olivia omar oscar otto owen pablo pamela paola patricia patrick paul
paula pauline pavel pedro peggy peter petra phil philip philipp philippe phoebe pia pierre piotr priya
quentin rachel rahul raj rajesh ralph ramon randy raphael raul ravi raymond rebecca regina rene renee
ricardo richard rick ricky rita robert roberta roberto robin rodrigo roger rohan roland rolf roman ronald
ronnie rosa rosalind rosemary rosie ross roxanne roy rudolf rupert russell ruth ryan sabine sabrina sally
salma sam samantha samir samuel sandra sanjay sara sarah sasha scott sean sebastian sergei sergio shane
shannon sharon shaun shawn sheila shirley sibylle silvia simon simone sofia sonia sonja sophia sophie
stacey stacy stanley stefan stefanie stella stephanie stephen steve steven stuart sunil susan susanna
susanne suzanne sven svetlana sylvia takeshi tamara tania tanya tara tatiana ted terence teresa terry
tessa theo theodore theresa thomas tiffany tim timothy tina tobias todd tom tomas tommy toni tony tracy
travis trevor tyler ulrich umar ursula valentina valeria valerie vanessa vera veronica vicky victor vijay
vikram vincent viola vivian vladimir walter wanda wayne wendy werner wilhelm willem william wolfgang
xavier yara yasmin yolanda yuki yusuf yvonne zachary zara zoe zoey zofia
""")
"""Given names that are no common English word."""

WORDLY_NAMES = names("""
amber april august austin autumn bill brook candy carol charity chase chelsea christian crystal
daisy dale dawn dean drew eve faith florence frank gene georgia glen grace grant guy hazel heath holly
hope hunter iris ivy jack jade jasmine jordan june lance lily mark may mel mike nick olive paris pat pearl
penny pierce ray reed rich rob robin rod rose ruby rusty sandy savannah sue summer
sydney victoria violet virginia will
""")
"""Given names that are also words or places: names only where a capital is no accident."""

PLACES = names("""
afghanistan africa albania algeria america amsterdam angola ankara antarctica antwerp argentina armenia
asia athens atlanta auckland australia austria baghdad bali bangalore bangkok bangladesh barcelona basel
bavaria beijing beirut belgium belgrade belgrade berlin bern bhutan birmingham bogota bolivia bologna
bombay bonn bordeaux bosnia boston botswana bratislava brazil bremen brisbane bristol britain brooklyn
brussels bucharest budapest bulgaria cairo calcutta california cambodia cameroon canada canberra caracas
casablanca chengdu chennai chicago chile china chongqing cincinnati cleveland cologne colombia colorado
connecticut copenhagen croatia cuba cyprus dallas delaware delhi denmark denver detroit dhaka dresden
dubai dublin dusseldorf ecuador edinburgh egypt england eritrea estonia ethiopia europe fiji finland
florida france frankfurt geneva genoa germany ghana glasgow greece greenland guangzhou guatemala hamburg
hangzhou hanoi hanover havana hawaii heidelberg helsinki honduras hongkong houston hungary iceland idaho
illinois india indiana indonesia iowa iran iraq ireland israel istanbul italy jakarta jamaica japan
jerusalem johannesburg kansas karachi kathmandu kentucky kenya kiev kolkata korea kosovo krakow kuwait
kyiv kyoto lagos laos latvia lausanne lebanon leeds leipzig liechtenstein lille lisbon lithuania liverpool
ljubljana london louisiana luxembourg lyon macau madagascar madrid malaga malaysia maldives mali malta
manchester manhattan manila marseille maryland massachusetts melbourne mexico miami michigan milan
milwaukee minneapolis minnesota mississippi missouri moldova monaco mongolia montana montpellier montreal
montserrat morocco moscow mozambique mumbai munich nairobi namibia nanjing naples nashville nebraska nepal
netherlands nevada newcastle nicaragua nigeria normandy norway nottingham nuremberg oakland ohio oklahoma
ontario oregon osaka oslo ottawa oxford pakistan palermo palestine panama paraguay pennsylvania perth peru
philadelphia philippines phoenix pittsburgh poland porto portland portugal prague qatar quebec queensland
reykjavik riga rio romania rome rotterdam russia rwanda sacramento salzburg sapporo sarajevo scotland
seattle senegal seoul serbia seville shanghai shenzhen sicily singapore slovakia slovenia sofia somalia
spain stockholm strasbourg stuttgart sudan suzhou sweden switzerland syria taipei taiwan tallinn tanzania
tasmania tehran tennessee texas thailand tibet tokyo toronto toulouse tunisia turin turkey tuscany uganda
ukraine uruguay usa utah uzbekistan valencia vancouver venezuela venice vermont vienna vietnam vilnius
wales warsaw wellington wisconsin wuhan wyoming yemen yokohama york yorkshire zagreb zambia zimbabwe
zurich
""")
"""Countries, states and cities of one word."""

WORDLY_PLACES = names(
    "georgia turkey phoenix chile jordan florence paris sofia victoria charlotte orlando nice bath"
)
"""Places that are also words or given names."""

PLACE_PHRASES = frozenset(
    name.strip()
    for name in [
        "\nnew york",
        " new york city",
        " new zealand",
        " new orleans",
        " new jersey",
        " new mexico",
        " new hampshire",
        " new delhi",
        " new england",
        "\nsan francisco",
        " san diego",
        " san jose",
        " san antonio",
        " santa cruz",
        " santa monica",
        " santa barbara",
        " santa fe",
        " los angeles",
        "\nlas vegas",
        " st louis",
        " saint petersburg",
        " st petersburg",
        " salt lake city",
        " kansas city",
        " mexico city",
        " hong kong",
        "\nkuala lumpur",
        " cape town",
        " tel aviv",
        " buenos aires",
        " rio de janeiro",
        " sao paulo",
        " costa rica",
        " puerto rico",
        " sri lanka",
        "\nsouth africa",
        " south korea",
        " north korea",
        " saudi arabia",
        " united states",
        " united kingdom",
        " united arab emirates",
        "\nel salvador",
        " dominican republic",
        " czech republic",
        " north carolina",
        " south carolina",
        " north dakota",
        " south dakota",
        "\nwest virginia",
        " rhode island",
        " washington dc",
        " bay area",
        " silicon valley",
        " south america",
        " north america",
        " latin america",
        "\nmiddle east",
        " great britain",
        " northern ireland",
        " ho chi minh city",
        " abu dhabi",
        " turks and caicos",
        " central park",
        "\ntimes square",
        " golden gate bridge",
        " grand canyon",
        " eiffel tower\n",
    ]
)
"""Places of several words, folded."""

SURNAMES = (
    "王李张刘陈杨赵吴徐孙朱胡郭林罗郑梁谢宋唐许邓冯韩曹曾彭萧肖蔡潘田董袁余叶蒋杜苏魏吕丁沈姚卢"
    "傅钟崔廖汪范陆贾夏韦邹熊孟秦薛侯雷段郝邵毛贺顾龚钱严尹汤黎武莫孔汪黄周马于何高程方石金白江"
    "任谭史康万"
)
"""Chinese surnames of one character, the hundred or so that cover nine tenths of people."""
DOUBLE_SURNAMES = "欧阳|上官|司马|诸葛|夏侯|皇甫|尉迟|公孙|慕容|令狐|司徒|东方"
"""Surnames of two characters."""

HAN_PLACES = frozenset(
    [
        "北京",
        "上海",
        "天津",
        "重庆",
        "河北",
        "山西",
        "辽宁",
        "吉林",
        "黑龙江",
        "江苏",
        "浙江",
        "安徽",
        "福建",
        "江西",
        "山东",
        "河南",
        "湖北",
        "湖南",
        "广东",
        "海南",
        "四川",
        "贵州",
        "云南",
        "陕西",
        "甘肃",
        "青海",
        "台湾",
        "内蒙古",
        "广西",
        "西藏",
        "宁夏",
        "新疆",
        "香港",
        "澳门",
        "广州",
        "深圳",
        "杭州",
        "南京",
        "苏州",
        "成都",
        "武汉",
        "西安",
        "郑州",
        "长沙",
        "青岛",
        "济南",
        "大连",
        "沈阳",
        "哈尔滨",
        "长春",
        "厦门",
        "福州",
        "宁波",
        "无锡",
        "合肥",
        "昆明",
        "南昌",
        "南宁",
        "贵阳",
        "太原",
        "石家庄",
        "兰州",
        "海口",
        "三亚",
        "珠海",
        "东莞",
        "佛山",
        "温州",
        "常州",
        "徐州",
        "烟台",
        "威海",
        "洛阳",
        "桂林",
        "丽江",
        "大理",
        "拉萨",
        "乌鲁木齐",
        "呼和浩特",
        "银川",
        "西宁",
        "扬州",
        "绍兴",
        "嘉兴",
        "泉州",
        "惠州",
        "中山市",
        "台北",
        "高雄",
        "唐山",
        "中国",
        "美国",
        "英国",
        "法国",
        "德国",
        "日本",
        "韩国",
        "俄罗斯",
        "加拿大",
        "澳大利亚",
        "新西兰",
        "意大利",
        "西班牙",
        "葡萄牙",
        "荷兰",
        "比利时",
        "瑞士",
        "瑞典",
        "挪威",
        "丹麦",
        "芬兰",
        "冰岛",
        "奥地利",
        "希腊",
        "土耳其",
        "埃及",
        "印度",
        "泰国",
        "越南",
        "新加坡",
        "马来西亚",
        "印度尼西亚",
        "菲律宾",
        "巴西",
        "阿根廷",
        "墨西哥",
        "南非",
        "欧洲",
        "非洲",
        "东京",
        "大阪",
        "京都",
        "首尔",
        "纽约",
        "洛杉矶",
        "旧金山",
        "芝加哥",
        "波士顿",
        "西雅图",
        "伦敦",
        "巴黎",
        "柏林",
        "慕尼黑",
        "罗马",
        "米兰",
        "威尼斯",
        "马德里",
        "巴塞罗那",
        "阿姆斯特丹",
        "维也纳",
        "布拉格",
        "莫斯科",
        "悉尼",
        "墨尔本",
        "多伦多",
        "温哥华",
        "曼谷",
        "迪拜",
        "里昂",
        "奥斯陆",
        "斯德哥尔摩",
        "哥本哈根",
        "苏黎世",
        "日内瓦",
    ]
)
"""Provinces, larger cities, countries and cities of the world in Chinese."""

HAN_ORGANISATIONS = names("""
腾讯 阿里巴巴 百度 华为 字节跳动 京东 美团 拼多多 网易 滴滴 联想 中兴 新浪 搜狐 携程 微软 谷歌 亚马逊
英特尔 英伟达 特斯拉 三星 索尼 比亚迪 蔚来 海尔 格力 顺丰 中国移动 中国联通 中国电信 中石油 中石化
国家电网 联合国 清华 北大 复旦 浙大
""")
"""Organisations known by a name without a suffix."""
