"""Letters, frequent words and frequent characters of the languages that legacy encodings were made for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """Frequent characters in the texts of a language.

    Attributes
    ----------
    letters : str
        Frequent non-ASCII letters in lower case; for scripts without case, frequent characters.
    words : frozenset of str
        Frequent short words.
    elisions : re.Pattern or None
        Apostrophes that the language writes, with the letters around them.
    """

    letters: str
    words: frozenset[str]
    elisions: re.Pattern[str] | None = None


def _language(letters: str, words: str, elisions: str = "") -> Language:
    return Language(letters, frozenset(words.split()), re.compile(elisions, re.I) if elisions else None)


_FRENCH = r"(?:^|[^\w])(?:l|d|j|c|n|s|m|t|qu|lorsqu|puisqu|jusqu|quelqu|aujourd)$"
_ITALIAN = r"(?:l|d|c|n|s|m|t|v|un|po|all|dell|nell|sull|dall|quell|quest|gl|com|dov|quand|senz|tutt|anch)$"
LATIN: Mapping[str, Language] = {
    "en": _language(
        "",
        "the a an of to and in is was that it he she they we you i his her on for with as at by be are"
        " were has had have"
        " not this who which what did do does from but or said their will would can there him them",
        r"(?:n’t|[a-z]’(?:s|d|m|ll|re|ve)|s’|(?<![a-z])’(?:n’|twas|tis|em|cause))(?![a-z])",
    ),
    "de": _language(
        "äöüß",
        "der die das und ist nicht ein eine einen dem den des zu in mit auf für von er sie es ich wir"
        " ihr hat war dass"
        " sich auch als wie im am an bei noch nur haben wurde wird über sind",
    ),
    "fr": _language(
        "éèêëàâçîïôûùœ",
        "le la les un une des de du et est que qui il elle je tu nous vous ils elles ne pas dans pour"
        " sur avec ce cette"
        " se en au aux son sa ses par mais plus a été être où à",
        _FRENCH,
    ),
    "es": _language(
        "áéíóúñü",
        "el la los las un una de del que y en es no se por con para su lo le al más como qué me mi ha"
        " pero sus está"
        " muy ya cuando él yo",
    ),
    "pt": _language(
        "áâãàéêíóôõúç",
        "o a os as um uma de do da dos das que e em no na não se por com para é ele ela eu foi mais"
        " como ao mas muito"
        " está seu sua são",
    ),
    "it": _language(
        "àèéìòù",
        "il lo la i gli le un una di del della che e è in non si per con ha sono da al nel più come ma"
        " chi questo era"
        " ho mi ti perché anche",
        _ITALIAN,
    ),
    "nl": _language(
        "ëïéèöü",
        "de het een en van is dat niet in op te zijn met voor die hij ze ik aan er ook als bij naar om"
        " wordt door heeft"
        " was maar",
        r"(?:^|[^\w])’(?:s|t|n|k|m)|[a-z]’s",
    ),
    "sv": _language(
        "åäöé",
        "och att det som en ett på är av för med den till inte har om jag han hon de var men så när vi"
        " du kan från ska",
    ),
    "da": _language(
        "æøåé",
        "og at det som en et på er af for med den til ikke har om jeg han hun de var men så når vi du"
        " kan fra skal i",
    ),
    "fi": _language(
        "äö",
        "ja on ei että se hän oli mutta kun niin ovat tämä mitä joka minä sinä en ole kuin myös voi olla sen",
    ),
    "is": _language(
        "áéíóúýþæöð",
        "og að það er sem ekki í á við til en hann hún var með fyrir um þú ég þetta af ef eða þegar",
    ),
    "ca": _language(
        "àéèíïóòúüç",
        "el la els les un una de del que i en és no es per amb va al més com què però ha ho seu jo",
        _FRENCH,
    ),
}
CENTRAL: Mapping[str, Language] = {
    "pl": _language(
        "ąćęłńóśźż",
        "i w nie na się że z do to jest jak o co ale po za tak czy dla był była są być od przez tym"
        " jego ten już",
    ),
    "cs": _language(
        "áčďéěíňóřšťúůýž",
        "a v se na je že to s z do o si jako ale by i k za pro už tak jsem byl co jeho při nebo aby"
        " jsou být není",
    ),
    "sk": _language(
        "áäčďéíĺľňóôŕšťúýž",
        "a v sa na je že to s z do o si ako ale by aj k za pre už tak som bol čo jeho pri alebo aby sú"
        " byť nie",
    ),
    "hu": _language(
        "áéíóöőúüű",
        "a az és hogy nem is egy ez meg de csak volt már mint van ha el azt még vagy kell lehet ki be",
    ),
    "hr": _language(
        "čćđšž",
        "i je u na se da su za od s kao ali to nije što bi ne iz ili koji po biti sam može",
    ),
    "ro": _language(
        "ăâîşţ",
        "și şi a de în la nu că o un cu pe este mai să din care se ce pentru sau fi au era",
    ),
}
BALTIC: Mapping[str, Language] = {
    "lt": _language("ąčęėįšųūž", "ir kad yra į iš su ne tai bet kaip jis ar o buvo tik po už nuo ji taip"),
    "lv": _language("āčēģīķļņšūž", "un ir ka ar no uz par nav tas kā bet vai bija es viņš to arī lai pie"),
    "et": _language("äõöüšž", "ja on ei et see oli ta kui aga mis ka ma ning või kes oma ole seda"),
}
TURKISH: Mapping[str, Language] = {
    "tr": _language(
        "çğıöşüâîi",  # the capital İ is an i in lower case
        "bir ve bu da de için çok ne ile mi mı o ama gibi daha var kadar sonra en her olarak değil ben"
        " ki ya olan",
        r"\w’\w",
    ),
}
CYRILLIC: Mapping[str, Language] = {
    "ru": _language(
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
        "и в не на я что он с как это по но она из у за от так же то все к мы для о его был или если"
        " есть был",
    ),
    "uk": _language(
        "оанивіетрсклдумпьязгбчйхїцжюшєщфґ",
        "і в не на що з у до як це та за він від по є але про для й його так або бути",
    ),
    "bg": _language(
        "аеоинтрсвлдкпмзябгуъчщйжхцшюфь",
        "и на в да се не е от че с за по са като но си до това ще го той или при",
    ),
    "sr": _language(
        "аоиеунјрстдкмвлпзгбчћшжцхфљњђџ",
        "и је у на се да су за од као али то није што би не из или који по",
    ),
}
GREEK: Mapping[str, Language] = {
    "el": _language(
        "αοιετσνηυρπκμλωςδγχθφβξζψάέήίόύώϊϋΐΰ",
        "και το να του η της με που την από για τα είναι των σε ο οι στο δεν θα τον μια ότι στην",
    ),
}
HEBREW: Mapping[str, Language] = {
    "he": _language("יוהלאתמרבשנדעקחפםצגסטכןזךףץ", "של את לא על הוא זה כי גם היא או אם עם כל יש אני"),
}
ARABIC: Mapping[str, Language] = {
    "ar": _language(
        "الينمروتبةعدسفهكقحجأشطصىخذإضزئءثغظآؤ", "في من على أن إلى لا ما هذا هو التي عن أو مع كان هذه"
    ),
}
THAI: Mapping[str, Language] = {
    "th": _language("านรอกเงมยลวดท่สตะปบคหแจพัี้ิุ์ขใไชโผูำซ็ญถธศณภึืๆ", ""),
}

#: The most frequent characters of running text; text in a wrong encoding has them by chance only.
HIRAGANA = "".join(chr(point) for point in range(0x3041, 0x3097))
KATAKANA = "".join(chr(point) for point in range(0x30A1, 0x30FB)) + "ー"
_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方"
    "多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情"
    "明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给"
    "世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太"
    "量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象"
    "完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运写读买卖吃喝谁喜欢爱朋友学生老师"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作里裡用道行所然家種事成方"
    "多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情"
    "明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給"
    "世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太"
    "量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象"
    "完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運寫讀買賣吃喝誰喜歡愛朋友學生老師"
)
_HANGUL = (
    "이다는을를가에의고은한하지도로사기어아나자인리대시해그게서라만과들일수정있보스전부장제상여으주오조원구안요것유공동소경우니관"
    "적와면성모비신선마무화연국미개계세위당무실학생습까거던했었없말났저네됐않같때후더면서누할내러려야받물회않진및간치김박최"
)
SPACELESS: Mapping[str, str] = {"zh": _SIMPLIFIED, "zh-Hant": _TRADITIONAL, "ko": _HANGUL}
