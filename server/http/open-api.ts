/**
 * The relay's calls as an OpenAPI 3.1 document, for programs that make clients or documentation
 * from one. It is made from the same table of endpoints that the relay answers, so it cannot say
 * anything else. Source: OpenAPI Specification 3.1.1.
 *
 * What is no HTTP call of JSON (the event stream, the sync socket, MCP) is named here, and
 * described in `src/shared/protocol/README.md`.
 */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { Endpoint, Endpoints } from '../../src/shared/protocol/endpoints/endpoint.ts';
import { problemSchema } from '../../src/shared/protocol/http.ts';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The schemes of `components`; a requirement may name roles of its scheme, which are the scopes of
 * an application.
 */
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

/** What a program finds at `GET /api/openapi.json`. */
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

/** `$schema` says which dialect a schema is in: the document says so for all of them. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const whole = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  delete whole.$schema;
  return whole;
}

/**
 * The schema of one value in an address. What may be left out is read as null, which no address can
 * hold; and what its schema cannot say is text.
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
      // Values of a list stand behind one name, between commas.
      ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
    };
  });
}

function securityOf({ access = 'page', scopes = [] }: Endpoint): readonly Requirement[] {
  if (access === 'anyone') return [];
  if (access === 'credential') return [{ credential: [] }];
  // Any one of the scopes will do, so each is a requirement of its own.
  const byCredential = access === 'page' ? [] : [{ credential: [] }];
  return [BROWSER, ...byCredential, ...scopes.map((scope) => ({ credential: [scope] }))];
}

/** One status may stand for several cases, each with a body of its own: those are joined. */
function responsesOf({ answers, raw, yaml }: Endpoint): Readonly<Record<string, Response>> {
  const responses: Record<string, Response> = { default: { description: 'something else is wrong', content: PROBLEM } };
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

/** The first part of a path that names a thing: `threads` of `/api/threads/{threadId}`. */
const tagOf = (path: string) => path.split('/').find((part) => part !== '' && !/^(api|v1)$/.test(part)) ?? 'relay';

/**
 * The whole document. It takes some hundred milliseconds to make, and lets others run after each
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
    // Aliases are the same call, and an `operationId` may stand in a document once.
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
          description: 'Of an agent or an application; the roles that a call names are an application’s scopes.',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'roost_{port}',
          description: 'Of a browser that is signed in; its name ends with the port of the relay.',
        },
        pageKey: { type: 'apiKey', in: 'header', name: PAGE_KEY.header, description: 'Of the page in that browser.' },
      },
    },
  };
}
