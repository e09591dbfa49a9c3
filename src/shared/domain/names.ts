/**
 * Names: of agents, of the lead, of the person, and of what else says who speaks. A name stands in
 * headings before minds and on the page, so it says nothing but who somebody is: no characters that
 * nobody sees, none that turn the line around, no marks of which headings are made, and nothing by
 * which an agent would be taken for the person, the relay or a role. One function checks and one
 * shows, wherever a name enters; what is in a ledger already is shown by the same rules.
 */
import { sentence } from './sentence.ts';
import type { AgentId } from './ids.ts';

/**
 * Letters that are read as other letters: those that stand for the Latin ones in names that are
 * meant to mislead. What compatibility forms hide (full width, mathematical, circled letters) NFKC
 * has undone before. Source: the Unicode Consortium's confusables (UTS 39), of which these are the
 * ones in scripts that people have on their keyboards.
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

/**
 * A text in NFKC as the letters that a reader takes it for, in lower case. `signs`: digits and
 * signs for letters too.
 */
function latinLookOf(text: string, signs: boolean): string {
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

/** UTF-16 units of a name, at most. */
export const NAME_MAX = 80;
/** Marks on one letter, at most: more run over the lines around. */
const MARKS_MAX = 3;

/**
 * Whose name it is. `device`: one of the person's own. `label`: of a program, a place where a
 * credential is used.
 */
export type NameKind = 'agent' | 'lead' | 'person' | 'device' | 'label';

/** What somebody is called whose name cannot be shown. */
const FALLBACK: Readonly<Record<NameKind, string>> = {
  agent: 'Nameless',
  lead: 'Lead',
  person: 'the human',
  device: 'A device',
  label: 'a client',
};

/**
 * Controls, formats (among them what turns lines around), halves of pairs, private and unassigned
 * ones, and what shows as nothing.
 */
const UNSEEN = /[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
const BLANK = /[\s\p{Cc}\p{Z}\u2800]+/gu;
/** What headings and quotations are made of; an apostrophe is no quotation mark. */
const HEADING = /(?![‘’])[\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>=|:;,"`\\@∶꞉ː]/gu;
const SEEN = /[\p{L}\p{N}\p{S}]/u;
const MANY_MARKS = new RegExp(`(\\p{M}{${MARKS_MAX}})\\p{M}+`, 'gu');

/** At most so long, without half a pair of surrogates at its end. */
const within = (text: string, most: number) =>
  text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();

/** The name without what does not belong into one; '' where nothing is left. */
function cleaned(raw: string): string {
  // A name of a million characters is looked at no further than it could matter.
  const name = raw
    .slice(0, NAME_MAX * 8)
    .normalize('NFKC')
    .replace(UNSEEN, '')
    // What stood unseen between a letter and its mark kept them apart.
    .normalize('NFC')
    .replace(HEADING, ' ')
    .replace(BLANK, ' ')
    .replace(MANY_MARKS, '$1')
    .trim();
  return SEEN.test(name) ? name : '';
}

/**
 * A text of somebody else's as it is shown beside words of ours: on one line, without what nobody
 * sees and what turns lines around.
 */
export const shownText = (raw: string): string => raw.replace(UNSEEN, '').replace(BLANK, ' ').trim();

const words = (name: string, signs = true) =>
  latinLookOf(cleaned(name), signs)
    .split(/[\s\p{P}]+/u)
    .filter((word) => word !== '');

/**
 * What a reader sees of a name: names are alike where this is the same. Of no use but to compare.
 */
export const foldName = (name: string): string => words(name).join('');
export const isSameName = (one: string, other: string): boolean =>
  foldName(one) !== '' && foldName(one) === foldName(other);

const folded = (list: string) => new Set(list.split(' ').map(foldName));
/** Not a name of an agent's, nor a word of one. */
const NO_WORD = folded('human relay system assistant user');
const NO_NAME = folded(
  'human person user owner you yourself me relay roost system developer assistant tool admin administrator operator everyone everybody team somebody someone nobody nameless client',
);
const OF_LEAD = folded('lead leader');
const OF_PERSON = folded('human person user owner you me');
const ARTICLES = folded('the a an your our my this');
const SEAT = /^(?:seat|position|place)?\d{1,2}$/;

function isReserved(name: string, kind: NameKind): boolean {
  if (
    kind === 'person' &&
    OF_PERSON.has(
      words(name)
        .filter((word) => !ARTICLES.has(word))
        .join(''),
    )
  )
    return false;
  const all = words(name);
  const rest = all.filter((word) => !ARTICLES.has(word));
  const whole = [rest.join(''), all.join('')].flatMap((joined) =>
    joined.startsWith(THE) ? [joined, joined.slice(THE.length)] : [joined],
  );
  const taken = (joined: string) => NO_NAME.has(joined) || (kind !== 'lead' && OF_LEAD.has(joined));
  const looksLikeSeat =
    SEAT.test(words(name, false).join('')) ||
    SEAT.test(
      cleaned(name)
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]/gu, ''),
    );
  return (
    whole.some(taken) ||
    (kind !== 'person' && all.some((word) => NO_WORD.has(word))) ||
    (kind !== 'label' && kind !== 'device' && looksLikeSeat)
  );
}
const THE = foldName('the');

export type CheckedName =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The name as it is kept, or why not: a sentence for whoever chose it. `person`: what the person is
 * called, which nobody else is.
 */
export function checkName(raw: string, kind: NameKind, person: string | null = null): CheckedName {
  const name = cleaned(raw);
  if (name === '')
    return {
      ok: false,
      reason: sentence`A name has at least one letter, digit or sign that can be seen. Choose another.`,
    };
  if (name.length > NAME_MAX)
    return {
      ok: false,
      reason: sentence`A name has at most ${NAME_MAX} characters. Choose another, or a shorter one.`,
    };
  if (isReserved(name, kind))
    return {
      ok: false,
      reason: sentence`“${name}” would be taken for somebody or something else: the person, the relay, a role or a seat. Choose another.`,
    };
  if (kind !== 'person' && person !== null && isSameName(name, person))
    return {
      ok: false,
      reason: sentence`“${name}” is what the person here is called, or looks the same. Choose another.`,
    };
  return { ok: true, name };
}

/** A name that is there already, as it is shown, to people and to minds. */
export function shownName(raw: string, kind: NameKind): string {
  const name = within(cleaned(raw), NAME_MAX);
  return name === '' || isReserved(name, kind) ? FALLBACK[kind] : name;
}

/**
 * Ids of those who share their name with somebody else, the person among them, to the eye: they are
 * told apart by their seats.
 */
export function alikeOf(
  members: readonly { readonly agentId: AgentId; readonly name: string }[],
  person: string | null = null,
): ReadonlySet<string> {
  const byFold = new Map<string, string[]>();
  for (const { agentId, name } of members) byFold.set(foldName(name), [...(byFold.get(foldName(name)) ?? []), agentId]);
  const persons = person === null ? null : foldName(person);
  return new Set([...byFold].flatMap(([fold, ids]) => (ids.length > 1 || fold === persons ? ids : [])));
}
