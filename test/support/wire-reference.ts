/**
 * Writes src/shared/protocol/README.md from the schemas: `npm run wire`. A unit test compares.
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

export const REFERENCE = fileURLToPath(new URL('../../src/shared/protocol/README.md', import.meta.url));

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
  agent: ' A credential will do as well, as a Bearer token: the agent’s own.',
  client: '',
  credential: ' Needs no cookie.',
  anyone: ' Needs no cookie.',
};

/** Which scope of an application lets it call. */
const scopesText = (scopes: readonly string[]) =>
  scopes.length === 0 ? '' : ` An application may with ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;

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
      'One of these, told apart by `kind`.',
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
    'Everything that crosses a line: the calls of the relay, its events, and the documents of the ledger. Written by `npm run wire` from the schemas beside this file; do not edit it by hand.',
    'Text is counted in UTF-16 code units. Positions run from 0 to 8, row by row; 4 is the lead’s. A time is a whole number of ms since the epoch. Fields marked “optional” may be left out.',

    '## Calls',
    `Bodies are JSON of at most ${LIMITS.bodyBytes.toLocaleString('en')} bytes. Every call needs the session cookie that the one-time link gives, and in \`roost-page-key\` the page key that it hands over besides (a WebSocket offers the subprotocols \`roost\` and \`roost.page-key.…\`), unless it says otherwise. Any of them may also answer 400 (what did not fit, and where), 401 (not signed in), 403 (another website, or a name that is not the relay’s), 405, 413, 415 (not JSON) or 429 (too many at once).`,
    ...Object.values<Endpoint>(ENDPOINTS).map(callSection),
    '### Problem documents',
    'Every status from 400 on comes with an RFC 9457 problem document, `application/problem+json`.',
    fieldTable(json(problemSchema)),

    '## Events',
    'Server-sent events with `id` (increasing), `event` (the kind) and `data` (JSON). They are on disk before anyone sees them, and are kept until a browser has acknowledged them. Hearing one twice is harmless: the documents that it stands for have ids that come from it.',
    '### `hello`',
    'The first on every connection, without an `id`.',
    fieldTable(json(helloSchema)),
    '### `snapshot`',
    'Once on every connection, without an `id`, after what was missed and before what is new: the session that runs, as of the event `upTo`. A page believes in a session only after this.',
    fieldTable(json(snapshotSchema)),
    '### `waiting`',
    'Without an `id`, after the snapshot where somebody waits, and whenever it changes: who stands in line before the model’s server. The newest holds, and nothing of it is kept.',
    fieldTable(json(waitingSchema)),
    '### `over`',
    'The last on a connection that is ended because of its sign-in, without an `id`.',
    fieldTable(json(overSchema)),
    ...eventSchema.options.map((schema) => kindSection(schema, 'kind')),

    '## The sync socket',
    'Text messages are JSON, told apart by `kind`; a message that does not fit ends the socket with `refused`. Binary messages are frames of replication, see replication/frames.ts. What is signed stands in sync/control.ts.',
    '### From a device',
    ...fromDeviceSchema.options.map((schema) => kindSection(schema, 'kind', { level: '####' })),
    '### From the relay',
    ...fromRelaySchema.options.map((schema) => kindSection(schema, 'kind', { level: '####' })),

    '## Documents',
    `Append-only: a document is written once and never changed; what changes is a further document, and the newest by (\`at\`, \`_id\`) holds. Fields, kinds and versions that an app does not know are kept and passed on. This is version ${SCHEMA_VERSION} of every kind.`,
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
  console.log(before === after ? 'The wire reference was up to date.' : 'The wire reference is written anew.');
}
