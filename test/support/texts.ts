/**
 * Finds the texts of the page in its code: what the catalogue of another language must hold. `npm
 * run texts` says what one lacks and what it holds in vain.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'vite';
import { FORM, keyOf, TEXTS, type Texts, type Translation } from '../../src/page/language/t.ts';
import { documentKinds } from '../../src/shared/protocol/documents/kinds.ts';
import { PROBLEMS, problemTextKey } from '../../src/shared/protocol/problems.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['src/page/ui', 'src/page/state', 'src/page/language'];
/**
 * Where sentences are said that pages say anew in their language: see
 * `src/shared/domain/names.ts`.
 */
const ELSEWHERE = [
  'src/page/exports',
  'src/shared/domain',
  'src/worker/ledger',
  'src/shared/protocol',
  'src/shared/relay-client',
  'src/worker/sync',
  'src/worker/worker.ts',
  'server',
];
/**
 * What may stand in an element or an attribute unmarked: names, commands and addresses are the same
 * in every language.
 */
const SAME_EVERYWHERE = /^(Roost|WAKE|SUMMON|mcpServers|NAME=value|npx|YAML|npm .*|\S*[./:…-]\S*|\{[^]*|[A-Z])$/;
/** Attributes that people read or hear. */
const READ = /^(title|alt|placeholder|label|hint|legend|heading|aria-(label|description|roledescription|valuetext))$/;

export interface FoundText {
  /** The text, or for an unmarked one what stands there. */
  readonly key: string;
  /** `src/page/ui/app.tsx:12` */
  readonly at: string;
}
export interface FoundTexts {
  /** With t`…` or `plural(…)`, in the order of the files. */
  readonly marked: readonly FoundText[];
  /** In an element, or in an attribute that people read, and not marked. */
  readonly unmarked: readonly FoundText[];
}

const sources = (folders: readonly string[]) =>
  folders.flatMap((folder) =>
    /\.ts$/.test(folder)
      ? [folder]
      : readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
          .map((name) => join(folder, name))
          .sort(),
  );

/** A text that stands in the code as it is; null: it is put together, and cannot be found. */
function literal(node: { type: string } | undefined): string | null {
  if (node?.type === 'Literal') return String((node as unknown as { value: unknown }).value);
  if (node?.type !== 'TemplateLiteral') return null;
  const { quasis } = node as unknown as { quasis: { value: { cooked: string } }[] };
  return quasis.length === 1 ? (quasis[0]?.value.cooked ?? null) : null;
}

function textsIn(path: string, code: string): FoundTexts {
  const marked: FoundText[] = [];
  const unmarked: FoundText[] = [];
  const place = (start: number) => `${path}:${code.slice(0, start).split('\n').length}`;
  const plain = (text: string, start: number) => {
    const key = text.trim();
    const isText = key.split('\n').some((line) => /\p{L}/u.test(line) && !SAME_EVERYWHERE.test(line));
    if (isText && !SAME_EVERYWHERE.test(key)) unmarked.push({ key, at: place(start) });
  };
  const { program, errors } = parseSync(path, code);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  new Visitor({
    TaggedTemplateExpression({ tag, quasi, start }) {
      if (tag.type !== 'Identifier' || (tag.name !== 't' && tag.name !== 'sentence')) return;
      const key = keyOf(quasi.quasis.map(({ value }) => value.cooked ?? ''));
      marked.push({ key: tag.name === 't' ? key : FORM + key, at: place(start) });
    },
    CallExpression({ callee, arguments: given, start }) {
      if (callee.type !== 'Identifier' || callee.name !== 'plural') return;
      const one = literal(given[1]);
      if (one === null) throw new Error(`${place(start)}: plural() takes its words as they are`);
      marked.push({ key: `{0} ${one}|{0} ${literal(given[2]) ?? `${one}s`}`, at: place(start) });
    },
    JSXText: ({ value, start }) => plain(value, start),
    JSXAttribute({ name, value, start }) {
      if (name.type !== 'JSXIdentifier' || !READ.test(name.name) || !value) return;
      const text = literal(value.type === 'JSXExpressionContainer' ? value.expression : value);
      if (text !== null) plain(text, start);
    },
  }).visit(program);
  return { marked, unmarked };
}

/** Every text of the page, with the place where it stands. */
export function textsOfPage(): FoundTexts {
  const read = (path: string) => textsIn(path, readFileSync(join(ROOT, path), 'utf8'));
  const found = sources(FOLDERS).map(read);
  const own = new Set(found.flatMap(({ marked }) => marked.map(({ key }) => key)));
  // A sentence from elsewhere that the page says too has one translation.
  const said = sources(ELSEWHERE)
    .flatMap((path) => read(path).marked)
    .map(({ key, at }) => ({ key: own.has(key.slice(FORM.length)) ? key.slice(FORM.length) : key, at }));
  const refusals = [...new Set(PROBLEMS.map((name) => problemTextKey(`about:roost/${name}`)))].flatMap((key) =>
    key === null ? [] : [{ key, at: 'src/shared/protocol/problems.ts' }],
  );
  // Shown by `translated`: the ledger's worker has the same table, and speaks to nobody.
  const kinds = documentKinds().flatMap(({ name, consent = name, type }) =>
    [...new Set([name, consent])].map((key) => ({ key, at: `the kind ${type}` })),
  );
  return {
    marked: [...found.flatMap(({ marked }) => marked), ...kinds, ...said, ...refusals],
    unmarked: found.flatMap(({ unmarked }) => unmarked),
  };
}

/** The catalogue of a language, as it stands beside the code. */
export const catalogueOf = (language: string): Texts =>
  JSON.parse(readFileSync(join(ROOT, `src/page/language/${language}.json`), 'utf8')) as Texts;

const holes = (text: string) => [...text.matchAll(/\{\d+\}/g)].map(([hole]) => hole).sort();
const forms = (translation: Translation) =>
  typeof translation === 'string' ? [translation] : Object.values(translation);

/**
 * What is wrong with a catalogue: a text that it lacks, one that no page has, and one that says
 * less or more than its key.
 */
export function faultsOf(language: string, texts: Texts, { marked }: FoundTexts): string[] {
  const keys = new Map(marked.map(({ key, at }) => [key, at]));
  const lacking = [...keys].filter(([key]) => !Object.hasOwn(texts, key)).map(([key, at]) => `lacks (${at}): ${key}`);
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const others = Object.entries(texts).flatMap(([key, translation]) => {
    if (!keys.has(key)) return [`in vain: ${key}`];
    if (typeof translation !== 'string')
      return categories.some((category) => translation[category] === undefined)
        ? [`has no form for each of ${categories.join(', ')}: ${key}`]
        : forms(translation).some((form) => form.replace('{0}', '').includes('{'))
          ? [`has another hole than {0}: ${key}`]
          : [];
    if (key.startsWith('{0} ') && key.includes('|{0} ')) return [`has one form for all numbers: ${key}`];
    // A refusal may say the relay's own words besides.
    const saysMore = key.startsWith('about:') && holes(translation).join() === '{0}';
    return saysMore || holes(key).join() === holes(translation).join() ? [] : [`has other holes: ${key}`];
  });
  return [...lacking, ...others];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = textsOfPage();
  for (const { key, at } of found.unmarked) console.log(`not marked (${at}): ${key}`);
  for (const language of Object.keys(TEXTS)) {
    const faults = faultsOf(language, catalogueOf(language), found);
    for (const fault of faults) console.log(`${language} ${fault}`);
    console.log(`${language}: ${new Set(found.marked.map(({ key }) => key)).size} texts, ${faults.length} faults`);
  }
}
