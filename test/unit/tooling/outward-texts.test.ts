/**
 * Texts that reach a program, a path, a header, an address or SQL. The table in `docs/security.md`
 * has them, and this test finds a new one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { attachmentSchema } from '../../../src/shared/protocol/mcp.ts';
import { addProgramSchema } from '../../../src/shared/protocol/programs.ts';
import { recordSchema } from '../../../src/shared/protocol/records.ts';

/** Fields that git gets as an operand. */
const OPERANDS = ['branch', 'baseBranch', 'base', 'head', 'merged', 'commit'];
/** Fields that reach a program, a path, a header or an address. */
const OUTWARD = [
  ...[...OPERANDS, 'repository', 'copy', 'setup', 'checks', 'script', 'folder', 'reads', 'path', 'url', 'issuer'],
  ...['command', 'args', 'env', 'headers'],
];
/** Shown to people alone. */
const SHOWN = ['receipt'];

interface Parts {
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly type: string;
}
type Leaf = readonly [field: string, text: z.ZodType];
/** The texts of a schema, each with the field in which it stands. */
function textsOf(schema: z.ZodType, field = ''): readonly Leaf[] {
  const def = schema.def as unknown as Parts;
  if (def.type === 'string') return [[field, schema]];
  const inner = [def.element, def.innerType, def.in, def.keyType, def.valueType, ...(def.options ?? [])];
  return [
    ...Object.entries(def.shape ?? {}).flatMap(([name, each]) => (SHOWN.includes(name) ? [] : textsOf(each, name))),
    ...inner.flatMap((each) => (each ? textsOf(each, field) : [])),
  ];
}
const texts = [recordSchema, attachmentSchema, addProgramSchema].flatMap((schema) => textsOf(schema));
const fields = (names: readonly string[]) => texts.filter(([field]) => names.includes(field));

it('every text of a record or a form that goes out refuses NUL', () => {
  expect(new Set(fields(OUTWARD).map(([field]) => field))).toEqual(new Set(OUTWARD));
  for (const [field, text] of fields(OUTWARD))
    expect(text.safeParse('https://a.example/\0').success, field).toBe(false);
});

it('every text of a record that git gets as an operand refuses an option', () => {
  for (const [field, text] of fields(OPERANDS)) expect(text.safeParse('--output=x').success, field).toBe(false);
});

it('writes raw SQL in named files alone', () => {
  const files = readdirSync('server', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const raw = files.flatMap((file) =>
    [...readFileSync(join('server', file), 'utf8').matchAll(/sql\.raw\(([^()]*)\)/g)].map(([, what]) => [file, what]),
  );
  expect(raw.filter(([file]) => !file?.startsWith('store/steps/')).toSorted()).toEqual([
    ['store/dialect.ts', "columns[column] ?? 'text'"],
    ['sync/entry-store.ts', 'direction'],
    ['sync/entry-store.ts', 'direction'],
  ]);
});
