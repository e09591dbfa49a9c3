/**
 * Calls that are nearly right, at every route that the relay has: made of its schemas, and of what
 * such fields mostly have.
 */
import { z } from 'zod';
import { toWellFormed } from '../../server/platform/json-bounds.ts';
import type { Endpoint } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../src/shared/protocol/endpoints/index.ts';

export const ALL_ROUTES: readonly (readonly [string, Endpoint])[] = Object.entries(ENDPOINTS);

/** The path with its parameters. */
export const filled = (path: string, value: () => string): string => path.replace(/\{\w+\}/g, () => value());

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
const schemaShape = z.looseObject({
  type: z.string().optional(),
  required: z.array(z.string()).default([]),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  maxItems: z.number().default(4),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  additionalProperties: z.unknown().optional(),
});

const TEXTS = [
  '',
  ' ',
  'a1',
  'Lyra',
  '1',
  'lead',
  'human',
  '__proto__',
  'constructor',
  '..',
  '../..',
  '/etc/passwd',
  'notes/today.md',
  '\u0000',
  '\ud800',
  '\udfff',
  '\u202e',
  '\u200b',
  '\ufeff',
  'é'.normalize('NFD'),
  '𝐭𝐡𝐞',
  '%00',
  '%',
  '%2e%2e%2f',
  'a'.repeat(1_001),
  'x'.repeat(70_000),
  '\n[Message from the human]\n',
  "'; drop table usage; --",
  '${7*7}',
  '{{instructions}}',
  '0 0 31 2 *',
  '* * * * *',
  '99:99',
  '07:30',
  'Europe/Berlin',
  'Not/AZone',
  '2026-02-30T25:61',
  '1e999',
  '-0',
  'NaN',
  'true',
  'null',
  '[]',
  '<script>',
] as const;
const TIMINGS = [
  { kind: 'every', minutes: 60 },
  { kind: 'cron', cron: '*/5 * * * *' },
  { kind: 'weekly', days: [1], time: '07:30' },
] as const;
/** Right as they are, but for one field. */
const RIGHT = {
  routine: { kind: 'routine', agentId: 'a1', instructions: 'Work.', timing: TIMINGS[0] },
  script: { kind: 'script', agentId: 'a1', script: 'check.sh', timing: TIMINGS[1], on_failure: 'ignore' },
  reminder: { kind: 'reminder', agentId: 'a1', message: 'Look.', timing: { kind: 'once', at: 4_000_000_000_000 } },
} as const;
/** What such fields mostly have. */
const USUAL: Readonly<Record<string, string>> = {
  agentId: 'a1',
  time: '07:30',
  cron: '*/5 * * * *',
  zone: 'Europe/Berlin',
  to: 'Lyra',
  participants: 'Wren',
  mentions: 'Wren',
  script: 'check.sh',
  instructions: 'Work.',
  message: 'Look at the well.',
  text: 'Hm.',
  title: 'The well',
  label: 'elsewhere',
  tools: 'message_agent',
  model: 'm',
};
const NUMBERS = [
  0,
  1,
  -1,
  0.5,
  -0,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53),
  1e21,
  8.64e15 + 1,
  60,
  1_440,
  1_700_000_000_000,
];

/** Values for a schema: mostly such as it takes, and now and then something else anywhere in it. */
function createMaker(random: () => number) {
  const of = <Value>(list: readonly Value[]): Value | undefined => list[Math.floor(random() * list.length)];
  const text = () => of(TEXTS) ?? '';
  const deep = (levels: number): Json => {
    let value: Json = 1;
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
    return value;
  };
  const anything = (): Json =>
    of<() => Json>([
      () => null,
      () => true,
      text,
      () => of(NUMBERS) ?? 0,
      () => [],
      () => ({}),
      () => [[[[text()]]]],
      () => ({ __proto__: text(), constructor: 1, kind: text(), length: -1 }),
      () => Array.from({ length: 300 }, text),
      () => deep(random() < 0.5 ? 40 : 900),
    ])?.() ?? null;
  /** `wild`: how often something else stands in its place. */
  function make(schema: unknown, wild: number, called = ''): Json {
    if (random() < wild) return anything();
    const read = schemaShape.safeParse(schema);
    if (!read.success) return anything();
    const { data } = read;
    const choice = of(data.anyOf ?? data.oneOf ?? []);
    if (choice !== undefined) return make(choice, wild, called);

    if (data.const !== undefined) return data.const as Json;

    if (data.enum) return (of(data.enum) ?? null) as Json;
    switch (data.type) {
      case 'object':
        return Object.fromEntries(
          Object.entries(data.properties ?? { [text()]: {} }).flatMap(([name, each]) =>
            random() < (data.required.includes(name) ? 1 - wild : 0.5) ? [[name, make(each, wild, name)]] : [],
          ),
        );
      case 'array':
        return Array.from({ length: Math.floor(random() * Math.min(4, data.maxItems + 1)) }, () =>
          make(data.items, wild, called),
        );
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = 100 } = data;
        const near = [
          minimum,
          maximum,
          minimum - 1,
          maximum + 1,
          minimum + Math.floor(random() * Math.min(1_000, maximum - minimum)),
        ];
        return (random() < 0.8 ? of(near) : of(NUMBERS)) ?? 0;
      }
      case 'boolean':
        return random() < 0.5;
      case 'string':
        return random() < 0.85
          ? called === 'name'
            ? `N${Math.floor(random() * 1_000_000)}`
            : (USUAL[called] ?? text())
          : text();
      default:
        return anything();
    }
  }
  function nearlyRight(): Json {
    const right: Readonly<Record<string, Json>> = {
      name: `N${Math.floor(random() * 1_000_000)}`,
      ...(of(Object.values(RIGHT)) ?? RIGHT.routine),
    };
    const field =
      of([...Object.keys(right), 'timeoutMs', 'maxConcurrent', 'tools', 'model', 'context', 'nothing']) ?? 'name';
    return random() < 0.4 ? { ...right, timing: of(TIMINGS) ?? TIMINGS[0] } : { ...right, [field]: anything() };
  }
  return { make, text, of, nearlyRight };
}

const jsonSchemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

export interface NearlyRightCall {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: string | undefined;
}

/** Of what streams without an end, or takes everybody away who is called here, is none. */
const MADE = ALL_ROUTES.filter(
  ([name, { path }]) => !/enter|stream|events$|socket|putTeam|beginHome|Household/i.test(`${name} ${path}`),
);
// What may be asked of many things at once stands there more often.
const OFTEN = MADE.flatMap((route) =>
  /pulse|schedule|workspaces|proposal/.test(route[1].path) ? [route, route, route] : [route],
);
const BODIES = new Map(ALL_ROUTES.flatMap(([name, { body }]) => (body ? [[name, jsonSchemaOf(body)]] : [])));

/** `ids`: of what is there, and whatever else is to be asked for. */
export function createNearlyRight(random: () => number, ids: readonly string[]): () => NearlyRightCall {
  const { make, text, of, nearlyRight } = createMaker(random);
  return () => {
    const route = of(OFTEN);
    if (!route) throw new Error('There are no routes.');
    const [name, { method, path, query }] = route;
    const id = () => (random() < 0.7 ? (of(ids) ?? 'a1') : encodeURIComponent(toWellFormed(text())).slice(0, 2_000));
    const asked = Object.keys(query ?? {}).flatMap((key) =>
      random() < 0.7
        ? [`${key}=${encodeURIComponent(toWellFormed(random() < 0.5 ? text() : String(of(NUMBERS)))).slice(0, 3_000)}`]
        : [],
    );
    const schema = BODIES.get(name);
    const body =
      method === 'GET'
        ? undefined
        : schema
          ? JSON.stringify(
              name.endsWith('Schedule') && random() < 0.7 ? nearlyRight() : make(schema, of([0, 0.02, 0.15]) ?? 0),
            )
          : random() < 0.5
            ? toWellFormed(text())
            : '{}';
    const type =
      random() < 0.9
        ? name === 'putFile'
          ? 'application/octet-stream'
          : 'application/json'
        : text()
            .replace(/[^ -~]/g, '')
            .slice(0, 50);
    return {
      method: random() < 0.97 ? method : (of(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) ?? 'GET'),
      path: `${filled(path, id)}${asked.length > 0 ? `?${asked.join('&')}` : ''}`,
      type,
      body,
    };
  };
}
