/** YAML: parses it within limits, and writes configurations with marks at what was set. */
import { Document, isMap, isScalar, isSeq, LineCounter, parseDocument, YAMLError, type Node, type Scalar } from 'yaml';
import { parseJson } from '../../src/shared/domain/platform/json.ts';
import { notYaml } from './problem.ts';

/**
 * Characters with a meaning for the parser. It takes up to 25 µs for each, and stack for each open
 * bracket. Enough of those would end the whole process.
 */
const MARKS = /[[\]{},:?\-&*!|>'"%@`#\n]/g;
const MOST_MARKS = 3_000;
const MOST_OPEN = 32;

/** Why this text is not parsed, as a sentence. Null: it is. */
function refuseYaml(text: string): string | null {
  if (/(?:^|[\s\-[{,])\?\s/m.test(text)) return 'a “?” before a key is not read';
  const marks = text.match(MARKS) ?? [];
  if (marks.length > MOST_MARKS) return `it has more than ${MOST_MARKS} marks and lines. Send it as JSON`;
  let open = 0;
  for (const mark of marks) {
    if (mark === '[' || mark === '{') open += 1;
    else if (mark === ']' || mark === '}') open = Math.max(0, open - 1);
    if (open > MOST_OPEN) return `it has more than ${MOST_OPEN} lists in each other`;
  }
  return text.split('\n').some((line) => /^(?:\s*-\s){33}/.test(line))
    ? `it has more than ${MOST_OPEN} lists in each other`
    : null;
}

/**
 * The first duplicate key of a mapping. Null: there is none. The parser's own check takes quadratic
 * time.
 */
function twiceIn(node: unknown): Scalar | null {
  if (isSeq(node)) return firstOf(node.items, twiceIn);
  if (!isMap(node)) return null;
  const seen = new Set<unknown>();
  return firstOf(node.items, ({ key, value }) => {
    if (!isScalar(key)) return twiceIn(value);
    if (seen.has(key.value)) return key;
    seen.add(key.value);
    return twiceIn(value);
  });
}
function firstOf<Item, Value>(items: readonly Item[], of: (item: Item) => Value | null): Value | null {
  for (const item of items) {
    const found = of(item);
    if (found !== null) return found;
  }
  return null;
}

/** Throws a problem: 400 where it is not YAML, or would expand far beyond its length. */
export function parseYaml(text: string): unknown {
  // All JSON is YAML, and the JSON parser is faster.
  const asJson = text.trimStart().startsWith('{') ? parseJson(text) : undefined;
  if (asJson !== undefined) return asJson;
  const refused = refuseYaml(text);
  if (refused !== null) throw notYaml(refused);
  const lines = new LineCounter();
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `at line ${line}, column ${col}`;
  };
  const [error] = document.errors;
  if (error) throw notYaml(`${error.message.split('\n')[0] ?? error.code} ${at(error.pos[0])}`);
  const twice = twiceIn(document.contents);
  if (twice) throw notYaml(`Map keys must be unique ${at(twice.range?.[0] ?? 0)}`);
  try {
    return document.toJS({ maxAliasCount: 10 });
  } catch (error) {
    // Aliases without an anchor, or too many of them.
    if (error instanceof ReferenceError || error instanceof YAMLError) throw notYaml(error.message);
    throw error;
  }
}

/** Marks the lines of keys in `own`. Recurses into mappings that are in both. */
function mark(node: Node | null | undefined, own: unknown): void {
  if (!isMap(node) || typeof own !== 'object' || own === null) return;
  for (const { key, value } of node.items) {
    const set =
      isScalar(key) && typeof key.value === 'string' ? new Map(Object.entries(own)).get(key.value) : undefined;
    if (set === undefined || !isScalar(key)) continue;
    if (isMap(value)) mark(value, set);
    else if (isScalar(value)) value.comment = SET_HERE;
    else key.comment = SET_HERE;
  }
}
const SET_HERE = ' set here';

export interface ConfigText {
  /** First line of the YAML. */
  readonly title: string;
  /** The effective values, as a configuration that could be set. */
  readonly holds: object;
  readonly own: object;
  /** The answer as JSON. */
  readonly json: object;
}

export function toYaml({ title, holds, own }: ConfigText): string {
  // Pasted back whole, the text replaces all settings. A part that is pasted alone changes that
  // part alone.
  const document = new Document({ ...holds, whole: true });
  document.commentBefore = ` ${title}\n What was set here is marked; leave out the rest, and it follows the defaults.`;
  mark(document.contents, own);
  // Quoted: older YAML parsers read 22:00 as a number.
  return document.toString({ defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });
}
