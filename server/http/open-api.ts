/**
 * The relay's endpoints as an OpenAPI 3.1 document, for programs that generate clients or
 * documentation. It is derived from the table of endpoints that the relay serves, so the two always
 * agree. Source: OpenAPI Specification 3.1.1.
 *
 * Interfaces other than HTTP calls with JSON (the event stream, the sync socket, MCP) are only
 * named here. `docs/wire.md` describes them.
 */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { Endpoint, Endpoints } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { problemSchema } from '../../src/shared/protocol/http.ts';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Names of `components` schemes. The roles of a requirement are the scopes of an application. */
type Requirement = Readonly<Record<string, readonly string[]>>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly style?: string;
  readonly explode?: boolean;
}

interface Content {
  readonly schema: JsonSchema | { readonly $ref: string };
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation {
  readonly operationId?: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Requirement[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response>>;
}

/** The document at `GET /api/openapi.json`. */
export interface OpenApi {
  readonly openapi: '3.1.1';
  readonly info: Readonly<Record<string, unknown>>;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

const JSON_TYPE = 'application/json';
const PROBLEM: Readonly<Record<string, Content>> = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
};

const BROWSER: Requirement = { session: [], pageKey: [] };

/** The document declares the schema dialect once for all schemas, so `$schema` is removed. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const whole = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  delete whole.$schema;
  return whole;
}

/**
 * The schema of one value in an address. An optional value is parsed as null, which no address can
 * hold. A value without a JSON Schema is text.
 */
function inAddress(schema: z.ZodType): JsonSchema {
  const { anyOf, ...whole } = jsonSchema(schema, 'input');
  const [said] = (anyOf ?? []).filter((each) => each.type !== 'null');
  return { type: 'string', ...said, ...whole };
}

function parametersOf(fields: Endpoint['params'], where: 'path' | 'query'): Parameter[] {
  return Object.entries(fields ?? {}).map(([name, schema]) => {
    const { description = '', ...rest } = inAddress(schema);
    return {
      ...{ name, in: where, required: where === 'path', description, schema: rest },
      // A list is one parameter with commas.
      ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
    };
  });
}

function securityOf({ access = 'page', scopes = [] }: Endpoint): readonly Requirement[] {
  if (access === 'anyone') return [];
  if (access === 'credential') return [{ credential: [] }];
  // Any one of the scopes suffices, so each is a requirement of its own.
  const byCredential = access === 'page' ? [] : [{ credential: [] }];
  return [BROWSER, ...byCredential, ...scopes.map((scope) => ({ credential: [scope] }))];
}

/**
 * One status may stand for several cases, each with a body of its own. Their schemas are joined.
 */
function responsesOf({ answers, raw, yaml }: Endpoint): Readonly<Record<string, Response>> {
  const responses: Record<string, Response> = { default: { description: 'any other error', content: PROBLEM } };
  for (const status of new Set(answers.map((answer) => answer.status))) {
    const cases = answers.filter((answer) => answer.status === status);
    const description = cases.map(({ when }) => when).join('; or ');
    const bodies = cases.flatMap(({ body }) => (body ? [jsonSchema(body, 'output')] : []));
    const [schema] = bodies;
    if (status >= 400) responses[status] = { description, content: raw ? {} : PROBLEM };
    else if (!schema) responses[status] = { description };
    else
      responses[status] = {
        description,
        content: contentOf(bodies.length === 1 ? schema : { anyOf: bodies }, yaml === true),
      };
  }
  return responses;
}

const contentOf = (schema: JsonSchema, yaml: boolean): Readonly<Record<string, Content>> => ({
  [JSON_TYPE]: { schema },
  ...(yaml ? { 'application/yaml': { schema } } : {}),
});

function operationOf(endpoint: Endpoint): Operation {
  const { does, path, params, query, headers = {}, body, yaml = false } = endpoint;
  const inHeaders = Object.entries(headers).map(([name, description]): Parameter => ({
    ...{ name, in: 'header', required: false, description },
    schema: { type: 'string' },
  }));
  const parameters = [...parametersOf(params, 'path'), ...parametersOf(query, 'query'), ...inHeaders];
  return {
    tags: [tagOf(path)],
    summary: does,
    security: securityOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: contentOf(jsonSchema(body, 'input'), yaml) } } : {}),
    responses: responsesOf(endpoint),
  };
}

/** The first path segment that names a thing: `threads` of `/api/threads/{threadId}`. */
const tagOf = (path: string) => path.split('/').find((part) => part !== '' && !/^(api|v1)$/.test(part)) ?? 'relay';

/**
 * The whole document. It takes some hundred milliseconds, and yields to other work after each
 * endpoint.
 *
 * @param table Every endpoint by its name, which becomes its `operationId`.
 * @param version Of the relay.
 */
export async function openApi(table: Endpoints, version: string): Promise<OpenApi> {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [name, endpoint] of Object.entries(table)) {
    const method = endpoint.method.toLowerCase();
    const operation = operationOf(endpoint);
    // Aliases are the same call, and an `operationId` must be unique in a document.
    paths[endpoint.path] = { ...paths[endpoint.path], [method]: { operationId: name, ...operation } };
    for (const alias of endpoint.aliases ?? []) paths[alias] = { ...paths[alias], [method]: operation };
    await setImmediate();
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Roost',
      version,
      summary: 'The calls of a relay.',
      description:
        'An application needs a credential: Settings → API clients. Until 1.0 calls may change between versions; the changelog says how.',
    },
    paths,
    components: {
      schemas: { Problem: jsonSchema(problemSchema, 'output') },
      securitySchemes: {
        credential: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The credential of an agent or an application. The roles that a call names are an application’s scopes.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'roost_{port}',
          description: 'The session cookie of a signed-in browser. Its name ends with the relay’s port.',
        },
        pageKey: {
          type: 'apiKey',
          in: 'header',
          name: PAGE_KEY.header,
          description: 'The page key of that browser’s page.',
        },
      },
    },
  };
}
