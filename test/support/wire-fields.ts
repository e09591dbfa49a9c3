/** JSON Schema in words and tables, for people who read the wire reference. */
import type { z } from 'zod';
import { MAX_TIME } from '../../src/shared/domain/stamp.ts';

type Schema = z.core.JSONSchema.BaseSchema;
type AnySchema = z.core.JSONSchema._JSONSchema;

const asSchema = (schema: AnySchema): Schema => (typeof schema === 'boolean' ? {} : schema);
const code = (text: string) => `\`${text}\``;

const alternativesOf = (schema: Schema) => (schema.anyOf ?? schema.oneOf ?? []).map(asSchema);
const isNull = (schema: Schema) => schema.type === 'null';

/** The one alternative beside null, with whether null is one. */
function nullable(schema: Schema): { inner: Schema; orNull: boolean } {
  const alternatives = alternativesOf(schema);
  const [inner, ...more] = alternatives.filter((each) => !isNull(each));
  if (!inner || more.length > 0 || alternatives.length !== 2) return { inner: schema, orNull: false };
  return { inner, orNull: true };
}

function range({ minimum, maximum, minLength, maxLength }: Schema, unit: string): string {
  const bound = (value: unknown) =>
    typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value.toLocaleString('en') : '';
  const [least, most] = unit === '' ? [bound(minimum), bound(maximum)] : [bound(minLength), bound(maxLength)];
  if (least !== '' && most !== '') return ` ${least}–${most}${unit}`;
  if (most !== '') return ` up to ${most}${unit}`;
  if (least === '' || least === '0') return '';
  return unit === '' ? ` from ${least}` : ', not empty';
}

/** An object on one line: its fields and what they are. */
function inlineObject(schema: Schema): string {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => `${code(name)}${required.has(name) ? '' : ' (optional)'}: ${typeOf(asSchema(field))}`,
  );
  return fields.length === 0 ? 'object' : `{ ${fields.join(', ')} }`;
}

/** A type in words, on one line. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(' or ');
  const { inner, orNull } = nullable(schema);
  if (orNull) return `${typeOf(inner)} or null`;
  if (alternativesOf(schema).length > 0)
    return alternativesOf(schema)
      .map((each) => typeOf(each))
      .join('<br>or ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' or ');
  switch (schema.type) {
    case 'null':
      return 'null';
    case 'string':
      return `text${range(schema, ' characters')}`;
    case 'integer':
      return schema.maximum === MAX_TIME ? 'time' : `whole number${range(schema, '')}`;
    case 'number':
      return 'number';
    case 'boolean':
      return 'true or false';
    case 'array':
      return `list of ${typeOf(asSchema(Array.isArray(schema.items) ? {} : (schema.items ?? {})))}`;
    case 'object':
      return inlineObject(schema);
    default:
      return 'anything';
  }
}

interface Row {
  readonly path: string;
  readonly type: string;
  readonly meaning: string;
}

/**
 * The object whose fields a table shows under this field, if any: an object, one that may be null,
 * a list of them.
 */
function nested(schema: Schema): { fields: Schema; type: string; suffix: string } | null {
  const { inner, orNull } = nullable(schema);
  const orNone = orNull ? ' or null' : '';
  if (inner.type === 'object' && inner.properties) return { fields: inner, type: `object${orNone}`, suffix: '' };
  const items = inner.type === 'array' && inner.items && !Array.isArray(inner.items) ? asSchema(inner.items) : null;
  if (items?.type === 'object' && items.properties)
    return { fields: items, type: `list of objects${orNone}`, suffix: '[]' };
  return null;
}

function rowsOf(schema: Schema, prefix = ''): Row[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const value = asSchema(field);
    const inside = nested(value);
    const notes = [
      value.description,
      required.has(name) ? null : 'optional',
      value.default === undefined ? null : `default ${code(JSON.stringify(value.default))}`,
    ];
    const row = {
      path: `${prefix}${name}`,
      type: inside?.type ?? typeOf(value),
      meaning: notes.filter(Boolean).join('; '),
    };
    return inside ? [row, ...rowsOf(inside.fields, `${prefix}${name}${inside.suffix}.`)] : [row];
  });
}

/** A table with a row for each field, those of objects within under their path. */
export function fieldTable(schema: Schema, heading = 'field'): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const rows = rowsOf(schema).map(({ path, type, meaning }) => `| ${code(path)} | ${cell(type)} | ${cell(meaning)} |`);
  return [`| ${heading} | type | meaning |`, '|---|---|---|', ...rows].join('\n');
}
