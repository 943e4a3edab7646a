/** Passwords that attackers try first, of those that are long enough to be chosen (NIST SP 800-63B-4 section 3.1.1.2). */

/**
 * The most used ones of at least 15 characters among the ten million passwords that Mark Burnett published in 2015 (SecLists, in the order
 * of how often each is used): in lower case and without spaces and signs, without those that are found without the list, and without obscene ones.
 */
const mostUsed = new Set(
  `
  00rdtsau4leyzunckj121dwm 010203040506070809 010519961111gfhjkm 025230230243639 0302multiblkjdcrbq0302
  0509672427nastya 054624917100225588 057yeja1zpc3ljx8ci 090807060504030201 0997450201cthbq 0k1o2v3a4l5e6v7
  102030405060708090 11c645df6bc8a365 1213141516171819 1234567890anton 12345678910111213141 123456789ghbdtn
  123456789valera 123boots1123boots2 123qweasdzxc123 123qwezxc123asd 1324354657687980 14021992004urban 147258369147258
  15003f640a10fd13 1505199129041991 19061995yulenka 1a2s3d4f5g6h7j8k 1pwhon42nnlvh1b 1q2q3q4q5q6q7q8q 1qa2ws3ed4rf5tg
  1xpx66blrumblst6bbus3 2010benvanburen 2014526rfyrelfq 218362kikakotik 23176djivanfros 2345zet56776869 24kent04kent83
  258456789qazzaq5 277rte87hryloitru 30secondstomars 420842084208555 4815162342lost4 543279937954lol 6521bf42403fc9d8
  666xbckjlmzdjkf 721174730459913 80688800742ilona 80971542123gfif 85fg754kl62br853lpq7 89031719600bhbyf
  89116446869tema 89278724282serg 89502727543lexa 8m917a753k98s25 923650asdfghjkl 96014430windowslive 9946755822zoomin
  a1s2d3f4g5h6j7k8 a1s2d3f4g5h6j7k8l9 achilleuschrisbln adidasonparas123 aian123321456654 aksjdlasdakj89879
  aleks1236556321 alisha1234567899 allyouneedislove americandream23 andrei123456789 andrejsiii0649 anhchiyeuminhem
  anhyeuemnhieulam antifamilymang1 antoniobanderas ashleywilliams2010 assemyouaretheking avengedsevenfold
  balloonssnoollab bawcattaebo101 bcgjldsgjldthnf bendischrisbln bhrh0h2oof6xbqjeh biosnexhardrive birkjenjengele
  boosuckawanger bpgjldsgjldthnf br76vt466464443 bylecnhbfkbpfwbz byyf1991vensuper c0904fd726fc565 c3hfpyteuflftim
  cfvfpyftimrfrjq cfvfzcxfcnkbdfz cgjldsgjldthnjv changedduetofraud chouraethiaci10 cjdthityyjctrhtnyj cjkytxysqpfqxbr
  contraspemspero coubeahecrubi49 counterstrike16 cristianoronald cristianoronaldo cthuttd123fhntv danilka123123456
  darinkabibalova dasha1234567890 dashatwilight305 daytripdaycamp deatiphiliato27 deflep27starwars deusdoimpossivel
  devilmaycry1991 dflbvybrjkftdbx digitalplayground dima324315198540 djpdhfotybt1992 dkflcjrjkjdcrbq dominik563431995
  dontworrybehappy drift89094072877 ds6tetsfdsrfdfgd dsgtylhbdfntkm82 dust360271212009 eagle1110stimpy efwe5tgwa5twhgd
  egew5twt3tgh65y ejxjzgbgunaz9z6j6exbniqga emyeuanhnhieulam ereyes4269ryan1199 erocdrahhardcore euamominhafamilia
  euq8pvhrnpssdymizqx+ eveningcucumber f1x753951753951 farida1arem710 fltkbyf13122009 franklinnilknarf
  freetrafficworld frephiotohaij65 fussballverruckte fypjhbr007dfcz007rfr garciamartin1995 gbplfnsqgfhjkm1
  gergdsfgedhjdrg gfifvtldtltdghjcnjkfgjxrf ghjcnj15z04jdty88 ghtlghbybvfntkm gjgeufqhjvfyfzif gjkbyf123ghjybyf
  gordolee85mac2olli gqlsstfhqgwwvqxjx greedisgood10987 gthtgjldsgjldthn gtnhjpfdjlcr123 gygypyfyyyposhy
  happytreefriends hd764nw5d7e1vb1 hd764nw5d7e1vbv heatoclevaedr36 heckfydrjynfrnt hgdxtgttgfdtdtes hjpjxrf23062007
  hl3fp5sjer8wmcyk hs49zu7wzpk2r5ac htcnhernehbpfwbz iamalocksmith25 iaxe105lanceman ikhouvanjeomer12345
  ilikedressingup incredibleguest incrediblereview iofdmaaycdbvrlbi iseedeadpeople1 iwillk03657320258
  jackasslolfr21345 jamestkirk7769h jeffersonlibrar jenniferrefinnej justinkislyanka kalmar801415854 kfdhtynmtdf112233
  kirill123456789 kumarsouravarzoo kyk1rbk1hbw0uqkckwbh lasnaloveafrosja laurelindorenan letadlo741852963
  lhbjkjubz2957704 loco68impossib lolfriendslaugh louisdoghattydog louisvdbongaert lrh195005041971 lrodneyrrodney
  luvbekkikkevbul lytdybrbdfvgbhf mailcreated5240 manchesterunited mariemadeleine marinanastua1313 martenson908884
  masa336433645962 merkavaivanhar1 messygirlgirlmessy michaeljacksonj mihaisurleanu2561 mihamihamiharap
  mikeybihonpost12 minhafelicidade mogilev368088193 momsanaladventure moneyfornothing muslim0626461997
  mychemicalromance myponycancelled nastyanastya123 navykentron1994 nbkbvbkbnhzvlbz neepodchehyl nemvxyheqdd5oqxyxyzi
  neversaymypassword nevershoutnever nhbujyjvtnhbz212 nhfdfytyfhrjnbr nick1234rem936 nikita9609595982 nissanskylinegtr
  nuttertools1234 omegamircolaura onlyone4myxworld opezassociateslb orientepetroler p140499417feef870 parasha11uvarova
  parliament12345 passwordassword passworddrowssap passwordstandard patriciamiguel ped100ananacnaveka pedrolucasmunhoz
  perasperaadastra perfectexploiter philipdannypaul phs16l31pogosta pogo22omegaome polniypizdec0211 polniypizdec1102
  polniypizdec110211 popovich250293sanek preciousprotection prigoda25392637 primavera2006casa professionaltools
  q1w2e3r4t5y6u7i8 q1w2e3r4t5y6u7i8o9p0 qazwsxedcrfvtgb qazwsxedcrfvtgby qazwsxedcrfvtgbyhn qazwsxedcrfvtgbyhnujm
  qwaszx987412369 radeonradeon159 raidersofthelostark rainbowskittles randomdude12000 relaxwebbewxaler rfewtww5tgregtr
  rgihlxoyoclmgiqsu rhfcjnfcgfctnvbh rjyutybfkmyjcnm rmracinggnicarmr robertpattinson romasxodizaxlebo
  romkathepapavk147896325 rumpelstiltzkin samsungkoze176351 sasha1993150205 sharpandshiny121 ske9k9tch3r5w9s
  sliueaproulou81 spectrumsonline stairwaytoheaven stargateasgard2009 supercutekawaii t6dlniahehjsktr60vp8rb50e2
  tanya1234567890 tbrunsonserihs teshkapoltavka thiesingdaniela thisismypassword trafficexchange ulrace173rfhgjd
  uthvfybzrfekbnw valerakish963210 vehfnjdfqaz123496 vfcnthbvfhufhbnf vjqvfktymrbqvbh vladivostok2000 vsebudethorosho
  vsebudetxorosho vtyltkttdrfrfhf websolutions007 worldofwarcraft wso9rycamguchqpdwwvbad wsxz3823922163845
  www9356527575195 x4cc355b10wsy0urm1nd xf6cmqlrpeuhjuvv xkzwnuxkdn9a8kcykuitbkg1g y5hjkdg82490840 yfcntyfckfcntyf
  yfltymrfxgjr0707 yfujhirtcbltkrjhjkm yjplhtvjxrf0102 youngandrestless zaibuneng198710 zcfvfzcxfcnkbdfz
  zeus7169ladidadi zghjcnjgfifujleyjd zlodeivot88w3er znfrfzrfrfztcnm zqjphsyf6ctifgu
`
    .trim()
    .split(/\s+/),
);

/** The parts between which people put spaces or signs. */
const partsOf = (password: string): readonly string[] => password.toLowerCase().split(/[\s._-]+/);

/** Whether it is one part twice or more, the last time perhaps cut off: `passwordpassword`. */
const isRepetition = (text: string): boolean => {
  for (let length = 1; length <= text.length / 2; length += 1) if (text.startsWith(text.slice(length))) return true;
  return false;
};

const places = new Map(
  ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'].flatMap((row, y) =>
    // Each row of a keyboard is about half a key further to the right.
    [...row].map((key, x) => [key, { x: x + y / 2, y }] as const),
  ),
);

/** Whether two characters are the same, follow each other in the alphabet, or are on neighbouring keys. */
const areNeighbours = (one: string, other: string): boolean => {
  if (Math.abs(Number(one.codePointAt(0)) - Number(other.codePointAt(0))) <= 1) return true;
  const [from, to] = [places.get(one), places.get(other)];
  return from !== undefined && to !== undefined && Math.abs(from.y - to.y) <= 1 && Math.abs(from.x - to.x) <= 1;
};

const neighboursIn = (part: string): number => {
  const characters = [...part];
  return characters.slice(1).filter((character, index) => areNeighbours(characters[index] as string, character)).length;
};

/** Of the pairs in English sentences a quarter are neighbours, seldom half; in `qwertyuiop 12345` all are. */
const mostNeighbours = 0.75;

/** Whether others would try it soon. */
export const isCommonPassword = (password: string): boolean => {
  const parts = partsOf(password);
  const text = parts.join('');
  if (mostUsed.has(text) || isRepetition(text)) return true;
  const neighbours = parts.reduce((sum, part) => sum + neighboursIn(part), 0);
  return text.length > 1 && neighbours >= mostNeighbours * ([...text].length - 1);
};
