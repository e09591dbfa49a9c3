/**
 * Names of agents, the lead, the person, devices and API clients.
 *
 * Models and the page show names in headings, so a name may contain nothing else. No invisible
 * characters, no characters that change the text direction, no heading marks, and nothing that
 * passes for the person, the relay or a role. `checkName` checks every new name. `shownName`
 * applies the same rules to stored names.
 */
import type { AgentId } from './ids.ts';

/**
 * A sentence for people that is written outside the page: by the relay, by a worker, or about a
 * model's server.
 *
 * It is English on the wire and in storage. A page in another language finds its translation by its
 * pattern, `said: {0} cannot be reached.`. `npm run texts` collects all sentences that are marked
 * with this tag.
 */
export const sentence = (strings: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  strings.reduce((text, string, at) => `${text}${values[at - 1] ?? ''}${string}`);

/**
 * Letters that look like Latin letters in misleading names. NFKC has already resolved compatibility
 * forms (full width, mathematical, circled letters). Source: the Unicode Consortium's confusables
 * (UTS 39), limited to scripts that people have on their keyboards.
 */

/** Each letter of `from` stands for the letter at the same place of `to`. */
const ROWS: readonly (readonly [from: string, to: string])[] = [
  // Capitals first: in lower case they look like something else.
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
/** Digits and signs that are used as letters. */
const LEET: readonly (readonly [from: string, to: string])[] = [['01345789$@|!', 'oleastbgsall']];

const tableOf = (rows: readonly (readonly [string, string])[]) =>
  new Map(rows.flatMap(([from, to]) => [...from].map((letter, i) => [letter, [...to][i] ?? letter] as const)));
const SHAPES = tableOf(ROWS);
const SIGNS = tableOf(LEET);

/**
 * First code points of negative circled, negative squared and regional indicator letters. NFKC does
 * not change them.
 */
const ENCLOSED = [0x1f150, 0x1f170, 0x1f1e6] as const;

function letterOf(sign: string): string {
  const shape = SHAPES.get(sign);
  if (shape !== undefined) return shape;
  const code = sign.codePointAt(0) ?? 0;
  const start = ENCLOSED.find((first) => code >= first && code < first + 26);
  return start === undefined ? sign : String.fromCharCode(0x61 + code - start);
}

/**
 * A text in NFKC as the Latin letters a reader takes it for, in lower case. `signs`: maps digits
 * and signs to letters too.
 */
function latinShapeOf(text: string, signs: boolean): string {
  const plain = [...text.normalize('NFD').replace(/\p{M}+/gu, '')]
    .map((sign) => letterOf(sign).toLowerCase())
    .map(letterOf)
    .join('');
  const letters = signs ? [...plain].map((sign) => SIGNS.get(sign) ?? sign).join('') : plain;
  // Latin letters that look alike.
  return letters
    .replace(/[il]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll('ß', 'ss')
    .replaceAll('æ', 'ae')
    .replaceAll('œ', 'oe');
}

/** Maximum length of a name, in UTF-16 units. */
export const NAME_MAX = 80;
/** Maximum number of marks on one letter. More of them overlap the lines above and below. */
const MARKS_MAX = 3;

/**
 * Whose name this is. `device`: a device of the person. `label`: a program, or a place where a
 * credential is used.
 */
type NameKind = 'agent' | 'lead' | 'person' | 'device' | 'label';

/** Shown in place of a name that cannot be shown. */
const FALLBACK: Readonly<Record<NameKind, string>> = {
  agent: 'Nameless',
  lead: 'Lead',
  person: 'the human',
  device: 'A device',
  label: 'a client',
};

/**
 * Format characters (including those that change the text direction), unpaired surrogates, private
 * and unassigned code points, and characters that render as nothing.
 */
const UNSEEN = /[\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
const BLANK = /[\s\p{Cc}\p{Z}\u2800]+/gu;
/** Characters that headings and quotations use. An apostrophe is not a quotation mark. */
const HEADING = /(?![‘’])[\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>=|:;,"`\\@∶꞉ː]/gu;
const SEEN = /[\p{L}\p{N}\p{S}]/u;
const MANY_MARKS = new RegExp(`(\\p{M}{${MARKS_MAX}})\\p{M}+`, 'gu');

/** At most `most` units, without half a surrogate pair at the end. */
const within = (text: string, most: number) =>
  text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();

/** The name without characters that do not belong in one. '' if nothing is left. */
function cleaned(raw: string): string {
  // Bounds the work for a name of a million characters.
  const name = raw
    .slice(0, NAME_MAX * 8)
    .normalize('NFKC')
    .replace(UNSEEN, '')
    // An invisible character may have separated a letter from its mark.
    .normalize('NFC')
    .replace(HEADING, ' ')
    .replace(BLANK, ' ')
    .replace(MANY_MARKS, '$1')
    .trim();
  return SEEN.test(name) ? name : '';
}

/**
 * Text from elsewhere, as shown beside Roost's own text: on one line, without invisible characters
 * and without characters that change the text direction.
 */
export const shownText = (raw: string): string => raw.replace(UNSEEN, '').replace(BLANK, ' ').trim();

const words = (name: string, signs = true) =>
  latinShapeOf(cleaned(name), signs)
    .split(/[\s\p{P}]+/u)
    .filter((word) => word !== '');

/** What a reader sees of a name. Two names are alike if this is equal. Only for comparing. */
export const foldName = (name: string): string => words(name).join('');
export const isSameName = (one: string, other: string): boolean =>
  foldName(one) !== '' && foldName(one) === foldName(other);

const folded = (list: string) => new Set(list.split(' ').map(foldName));
/** Not allowed as an agent's name, or as a word in one. */
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

type CheckedName = { readonly ok: true; readonly name: string } | { readonly ok: false; readonly reason: string };

/**
 * The name to store, or the reason why it is refused: a sentence for the person or the agent that
 * chose it. `person` is the person's name, which no one else may have.
 */
export function checkName(raw: string, kind: NameKind, person: string | null = null): CheckedName {
  const name = cleaned(raw);
  if (name === '' || name.length > NAME_MAX)
    return { ok: false, reason: sentence`A name has 1 to ${NAME_MAX} visible characters. Choose another.` };
  if (isReserved(name, kind))
    return {
      ok: false,
      reason: sentence`“${name}” would be taken for somebody or something else: the person, the relay, a role or a seat. Choose another.`,
    };
  if (kind !== 'person' && person !== null && isSameName(name, person))
    return {
      ok: false,
      reason: sentence`Somebody here has the name “${name}”, or one that looks the same. Choose another.`,
    };
  return { ok: true, name };
}

/** A stored name as people and models see it. */
export function shownName(raw: string, kind: NameKind): string {
  const name = within(cleaned(raw), NAME_MAX);
  return name === '' || isReserved(name, kind) ? FALLBACK[kind] : name;
}

/**
 * Ids of members whose name looks like another member's or the person's. They are told apart by
 * their seats.
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
