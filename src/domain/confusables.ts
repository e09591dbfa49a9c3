/**
 * Letters that are read as other letters: those that stand for the Latin ones in names that are meant to mislead. What
 * compatibility forms hide (full width, mathematical, circled letters) NFKC has undone before. Source: the Unicode
 * Consortium's confusables (UTS 39), of which these are the ones in scripts that people have on their keyboards.
 */

/** `from` stands for the letter at the same place of `to`. */
const ROWS: readonly (readonly [from: string, to: string])[] = [
  // Capitals first: in small letters they look like something else.
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'abezhikmnoptyx'],
  ['АВЕЅІЈКМНОРСТХУҮԌԚԜЬ', 'abesijkmhopctxyygqwb'],
  ['абвгеѕіјкмнопрстухһӏԁԛԝьүҫңґєзч', 'abbresijkmhonpctyxhldqwbycnree4'],
  ['αβγδεζηικλμνορςστυχω', 'abydeznikluvopcotuxw'],
  ['օոսհցզռԁւ', 'onuhgqndl'],
  ['ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏃᏢᏒᏚᎢᏙᎳᎩᎥᎡ', 'abcdehjklmzprstvwyir'],
  ['ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ', 'abcdefghijklmnoprstuvwxyz'],
  ['ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnoprstuvwyz'],
  ['ıȷɑɡøđħŧłƚɩʋɛɾɓɗƙɠɦɨʉƿ', 'ijagodhtlliuerbdkghiup'],
  ['ןוסխ', 'lloh'],
];
/** Digits and signs that are written for letters. */
const LEET: readonly (readonly [from: string, to: string])[] = [['01345789$@|!', 'oleastbgsall']];

const tableOf = (rows: readonly (readonly [string, string])[]) =>
  new Map(rows.flatMap(([from, to]) => [...from].map((letter, i) => [letter, [...to][i] ?? letter] as const)));
const LOOKS = tableOf(ROWS);
const SIGNS = tableOf(LEET);

/** Letters in dark circles and squares, and those of flags, which NFKC leaves alone. */
const ENCLOSED = [0x1f150, 0x1f170, 0x1f1e6] as const;

function letterOf(sign: string): string {
  const known = LOOKS.get(sign);
  if (known !== undefined) return known;
  const code = sign.codePointAt(0) ?? 0;
  const start = ENCLOSED.find((first) => code >= first && code < first + 26);
  return start === undefined ? sign : String.fromCharCode(0x61 + code - start);
}

/** A text in NFKC as the letters that a reader takes it for, in lower case. `signs`: digits and signs for letters too. */
export function latinLookOf(text: string, signs: boolean): string {
  const plain = [...text.normalize('NFD').replace(/\p{M}+/gu, '')]
    .map((sign) => letterOf(sign).toLowerCase())
    .map(letterOf)
    .join('');
  const letters = signs ? [...plain].map((sign) => SIGNS.get(sign) ?? sign).join('') : plain;
  // What looks alike within the Latin letters.
  return letters
    .replace(/[il]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('ß', 'ss')
    .replaceAll('æ', 'ae')
    .replaceAll('œ', 'oe');
}
