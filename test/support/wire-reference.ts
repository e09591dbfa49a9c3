/**
 * Writes docs/wire.md from the schemas: `npm run wire`. A unit test compares.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { blockSchema, knownSchemas, unknownDocumentSchema, usageSchema } from '../../src/shared/protocol/documents.ts';
import { SCHEMA_VERSION } from '../../src/shared/protocol/documents/kinds.ts';
import { asleepReasonSchema, eventSchema, mindSchema, snapshotSchema } from '../../src/shared/protocol/events.ts';
import { helloSchema, overSchema, waitingSchema } from '../../src/shared/protocol/stream.ts';
import { healthSchema, openHealthSchema, problemSchema, rehearsalSchema } from '../../src/shared/protocol/http.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { fromDeviceSchema, fromRelaySchema } from '../../src/shared/protocol/sync/control.ts';
import { fieldTable, typeOf } from './wire-fields.ts';

export const REFERENCE = fileURLToPath(new URL('../../docs/wire.md', import.meta.url));

/** Schemas that stand in several places: described once, named elsewhere. */
const SHARED = {
  Block: blockSchema,
  Usage: usageSchema,
  Mind: mindSchema,
  Reason: asleepReasonSchema,
  Health: healthSchema,
  OpenHealth: openHealthSchema,
  Rehearsal: rehearsalSchema,
};
for (const [id, schema] of Object.entries(SHARED))
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });

/** As JSON Schema; one that has a name itself is shown whole, those inside it by name. */
function json(schema: z.core.$ZodType, io: 'input' | 'output' = 'output'): z.core.JSONSchema.BaseSchema {
  const { $defs = {}, ...whole } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return $defs[whole.$ref?.split('/').at(-1) ?? ''] ?? whole;
}

/** A schema as it stands inside another: a reference where it has a name. */
function inside(schema: z.ZodType) {
  const it = json(z.object({ it: schema })).properties?.['it'];
  return typeof it === 'object' ? it : {};
}

const sentence = (text = '') =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
const joined = (parts: readonly string[]) => parts.filter((part) => part !== '').join('\n\n');

const WHO = {
  page: '',
  agent: ' Also accepts the agent’s own credential, as a Bearer token.',
  client: '',
  credential: ' Needs no cookie.',
  anyone: ' Needs no cookie.',
};

/** Which scope of an application lets it call. */
const scopesText = (scopes: readonly string[]) =>
  scopes.length === 0 ? '' : ` An application needs ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;

/** By name, with what each is for. */
const parametersOf = (fields: Endpoint['params'], where: string) =>
  Object.entries(fields ?? {}).map(([name, schema]) => ({ name, in: where, does: schema.description ?? '' }));

/** What a body holds; of one that may be of several kinds, what each holds. */
function bodyTables(body: z.ZodType): string[] {
  if (!(body instanceof z.ZodDiscriminatedUnion)) return [fieldTable(json(body, 'input'), 'field of the body')];
  return body.options.map((option) => {
    const whole = json(option, 'input');
    const { kind } = whole.properties ?? {};
    const name = typeof kind === 'object' ? String(kind.const) : '';
    return fieldTable(whole, `field of the body, of a ${name}`);
  });
}

function callSection({
  method,
  path,
  does,
  access = 'page',
  scopes = [],
  params,
  query,
  headers = {},
  body,
  answers,
}: Endpoint): string {
  const parts = [`### \`${method} ${path}\``, `${does}${WHO[access]}${scopesText(scopes)}`];
  const parameters = [
    ...parametersOf(params, 'path'),
    ...parametersOf(query, 'query'),
    ...Object.entries(headers).map(([name, does]) => ({ name, in: 'header', does })),
  ];
  if (parameters.length > 0) {
    const rows = parameters.map((parameter) => `| \`${parameter.name}\` | ${parameter.in} | ${parameter.does} |`);
    parts.push(['| parameter | in | |', '|---|---|---|', ...rows].join('\n'));
  }
  if (body) parts.push(...bodyTables(body));
  const rows = answers.map(
    ({ status, when, body: carried }) => `| ${status} | ${when}${carried ? `: ${typeOf(inside(carried))}` : ''} |`,
  );
  parts.push(['| answers | when |', '|---|---|', ...rows].join('\n'));
  return parts.join('\n\n');
}

/** A section of something told apart by one constant field, which the heading says already. */
function kindSection(
  schema: z.core.$ZodType,
  field: 'kind' | 'type',
  { level = '###', without = new Set<string>() } = {},
): string {
  const { properties = {}, description, ...rest } = json(schema);
  const tag = properties[field];
  const name = typeof tag === 'object' && typeof tag.const === 'string' ? tag.const : '';
  const fields = Object.entries(properties).filter(([each]) => each !== field && !without.has(each));
  const table = fields.length > 0 ? fieldTable({ ...rest, properties: Object.fromEntries(fields) }) : '';
  return joined([`${level} \`${name}\``, sentence(description), table]);
}

function sharedSection(name: string, schema: z.ZodType): string {
  if (schema instanceof z.ZodDiscriminatedUnion)
    return joined([
      `### ${name}`,
      'One of these, distinguished by `kind`.',
      ...schema.options.map((option) => kindSection(option, 'kind', { level: '####' })),
    ]);
  const { description, ...whole } = json(schema);
  return joined([`### ${name}`, sentence(description), fieldTable(whole)]);
}

/** The whole document. */
export function wireReference(): string {
  const everywhere = new Set(Object.keys(unknownDocumentSchema.shape));
  const sections = [
    '# The wire',
    'All formats that Roost’s parts exchange: the relay’s calls, its events, and the documents of the ledger. `npm run wire` writes this file from the schemas in `src/shared/protocol`. Do not edit it by hand.',
    'Text is counted in UTF-16 code units. Positions run from 0 to 8, row by row; 4 is the lead’s. A time is a whole number of ms since the epoch. “Optional” fields may be left out.',

    '## Calls',
    `Bodies are JSON of at most ${LIMITS.bodyBytes.toLocaleString('en')} bytes. Unless a call says otherwise, it needs the session cookie that the one-time link sets, and the page key that the link returns, in the header \`roost-page-key\`. A WebSocket offers the subprotocols \`roost\` and \`roost.page-key.…\` instead of the header. Every call may also answer 400 (what did not fit, and where), 401 (not signed in), 403 (another website, or a name that is not the relay’s), 405, 413, 415 (not JSON) or 429 (too many at once).`,
    ...Object.values<Endpoint>(ENDPOINTS).map(callSection),
    '### Problem documents',
    'Every answer with a status of 400 or more is an RFC 9457 problem document, `application/problem+json`.',
    fieldTable(json(problemSchema)),

    '## Events',
    'Server-sent events with `id` (increasing), `event` (the kind) and `data` (JSON). The relay writes an event to disk before it sends it, and stores it until a browser has acknowledged it. Receiving an event twice has no effect: the ids of its documents are derived from it.',
    '### `hello`',
    'The first message on every connection, without an `id`.',
    fieldTable(json(helloSchema)),
    '### `snapshot`',
    'Sent once on every connection, without an `id`, after the missed events and before new ones. It has the running session as of the event `upTo`. A page shows a session only after this.',
    fieldTable(json(snapshotSchema)),
    '### `waiting`',
    'The queue of the model server, without an `id`. The relay sends it after the snapshot if it is not empty, and whenever it changes. The newest one replaces earlier ones, and none is stored.',
    fieldTable(json(waitingSchema)),
    '### `over`',
    'The last message on a connection that ends because of its sign-in, without an `id`.',
    fieldTable(json(overSchema)),
    ...eventSchema.options.map((schema) => kindSection(schema, 'kind')),

    '## The sync socket',
    'Text messages are JSON, distinguished by `kind`. A message that does not fit ends the socket with `refused`. Binary messages are frames of replication; see replication/frames.ts. sync/control.ts defines the signed bytes.',
    '### From a device',
    ...fromDeviceSchema.options.map((schema) => kindSection(schema, 'kind', { level: '####' })),
    '### From the relay',
    ...fromRelaySchema.options.map((schema) => kindSection(schema, 'kind', { level: '####' })),

    '## Documents',
    `The ledger is append-only: a document is written once and never changed. A change is a further document, and the newest by (\`at\`, \`_id\`) applies. An app stores and passes on fields, kinds and versions that it does not know. This is version ${SCHEMA_VERSION} of every kind.`,
    'Every document has:',
    fieldTable(json(unknownDocumentSchema)),
    ...[...knownSchemas().values()].map((schema) => kindSection(schema, 'type', { without: everywhere })),

    '## Shared parts',
    ...Object.entries(SHARED).map(([name, schema]) => sharedSection(name, schema)),
  ];
  return `${sections.join('\n\n')}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const before = readFileSync(REFERENCE, { encoding: 'utf8', flag: 'a+' });
  const after = wireReference();
  writeFileSync(REFERENCE, after);
  console.log(before === after ? 'The wire reference was up to date.' : 'The wire reference was updated.');
}
