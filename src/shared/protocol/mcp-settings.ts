/**
 * Reads the MCP settings of other clients, as people paste them. It knows `mcpServers` of most
 * clients, and the formats of VS Code, Zed, opencode, Windsurf and Gemini CLI. They are JSON with
 * comments.
 *
 * A placeholder for a value of the other client's machine (`${env:X}`, `${input:x}`) is never sent
 * as written. The person is asked for its value.
 */
import { parse as parseJsonc, type ParseError } from 'jsonc-parser';
import { z } from 'zod';
import { isRecord } from '../domain/platform/json.ts';
import { sentence } from '../domain/names.ts';
import { MCP_BOUNDS, attachmentSchema, type Attachment } from './mcp.ts';

/** Converts a name to a valid server name: lower-case letters, digits, hyphens. */
export const mcpNameOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MCP_BOUNDS.name)
    .replace(/^-+|-+$/g, '') || 'server';

export interface FoundServer {
  readonly name: string;
  readonly attachment: Attachment;
}

/** A value that only the other client's machine knows. */
export interface AskedValue {
  /** The placeholder, as written in the settings. */
  readonly written: string;
  /** The prompt for the person: the description in the settings, or the name of a variable. */
  readonly label: string;
  /** The default value in the settings. */
  readonly initial: string;
  /** The value goes into a header or a variable, or the settings mark it as a password. */
  readonly secret: boolean;
}

export type ReadServers =
  | {
      readonly ok: true;
      readonly servers: readonly FoundServer[];
      readonly asked: readonly AskedValue[];
      /** What was left out or changed: sentences for the person. */
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

type Settings = Readonly<Record<string, unknown>>;

const NO_JSON = sentence`This is not valid JSON. Paste all of it, from { to }.`;
const NO_SERVERS = sentence`There are no servers in it. They must be under "mcpServers".`;

/** Undefined: the text is not JSON, with or without comments. */
function jsonIn(text: string): unknown {
  try {
    const errors: ParseError[] = [];
    const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true });
    return errors.length > 0 ? undefined : value;
  } catch {
    // Nested too deeply to parse.
    return undefined;
  }
}

/** Keys under which clients list their servers. */
const MAPS = ['mcpServers', 'context_servers', 'mcp_servers', 'servers'];
const NO_SERVER = ['inputs', '$schema'];
const isEntry = (value: unknown) =>
  isRecord(value) && ['command', 'url', 'serverUrl', 'httpUrl'].some((word) => word in value && !isRecord(value[word]));

/** The servers by name. Null: there are none. */
function serversIn(settings: Settings): Settings | null {
  for (const [key, value] of Object.entries(settings))
    if (MAPS.includes(key) || key.endsWith('.mcpServers')) {
      if (isRecord(value)) return value;
      if (Array.isArray(value))
        return Object.fromEntries(
          value.map((each: unknown, at) => [
            isRecord(each) && each['name'] ? String(each['name']) : `server ${at + 1}`,
            each,
          ]),
        );
    }
  const inner = settings['mcp'];
  if (isRecord(inner)) return serversIn(inner);
  if (isEntry(settings)) return { server: settings };
  const rest = Object.fromEntries(Object.entries(settings).filter(([key]) => !NO_SERVER.includes(key)));
  return Object.values(rest).every(isRecord) ? rest : null;
}

/** VS Code: the inputs that its settings ask the person for. */
function inputsIn(settings: Settings): ReadonlyMap<string, Settings> {
  const inner = settings['mcp'];
  const listed = settings['inputs'] ?? (isRecord(inner) ? inner['inputs'] : undefined);
  const inputs: readonly unknown[] = Array.isArray(listed) ? listed : [];
  return new Map(
    inputs.flatMap((input) =>
      isRecord(input) && typeof input['id'] === 'string' ? [[input['id'], input] as const] : [],
    ),
  );
}

const asText = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const texts = z
  .record(z.string(), asText.nullable())
  .nullish()
  .transform((given) =>
    Object.fromEntries(
      Object.entries(given ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    ),
  );
const optional = z
  .string()
  .nullish()
  .transform((given) => given ?? undefined);
const list = z
  .array(asText)
  .nullish()
  .transform((given) => given ?? []);
/** In opencode a command is a list, and in older versions of Zed an object. */
const commandSchema = z.union([
  z.string().transform((path) => ({ path, args: [] as string[], env: {} as Record<string, string> })),
  z
    .array(asText)
    .min(1)
    .transform(([path = '', ...args]) => ({ path, args, env: {} as Record<string, string> })),
  z.object({ path: z.string(), args: list, env: texts }),
]);
const entrySchema = z.looseObject({
  type: optional,
  url: optional,
  serverUrl: optional,
  httpUrl: optional,
  headers: texts,
  command: commandSchema.nullish(),
  args: list,
  env: texts,
  environment: texts,
  envFile: optional,
  cwd: optional,
  disabled: z.boolean().nullish(),
  enabled: z.boolean().nullish(),
});
type Entry = z.infer<typeof entrySchema>;

function attachmentOf({ url, serverUrl, httpUrl, headers, command, args, env, environment }: Entry): unknown {
  const address = httpUrl ?? serverUrl ?? url;
  if (address !== undefined) return { kind: 'address', url: address, headers };
  const { path = '', args: first = [], env: own = {} } = command ?? {};
  const all = [...first, ...args];
  // On Windows, npm programs are started this way.
  const isWrapped = /^cmd(?:\.exe)?$/i.test(path) && /^\/c$/i.test(all[0] ?? '') && all.length > 1;
  const [called = '', ...rest] = isWrapped ? all.slice(1) : [path, ...all];
  return { kind: 'program', command: called, args: rest, env: { ...own, ...env, ...environment } };
}

/**
 * Placeholders: `${X}`, `${X:-otherwise}`, `${env:X}`, `${input:x}`, `{env:X}`, `{file:x}`, and
 * `$X` as a whole value.
 */
const WRITTEN = /\$\{[^{}]*\}|\{(?:env|file):[^{}]*\}|^\$[A-Za-z_][A-Za-z0-9_]*$/g;

/** All texts of an attachment, and whether each is confidential. */
function textsOf(attachment: Attachment): readonly (readonly [text: string, secret: boolean])[] {
  if (attachment.kind === 'address')
    return [[attachment.url, false], ...Object.values(attachment.headers).map((value) => [value, true] as const)];
  return [
    ...[attachment.command, ...attachment.args].map((text) => [text, false] as const),
    ...Object.values(attachment.env).map((value) => [value, true] as const),
  ];
}

function askedFor(written: string, secret: boolean, inputs: ReadonlyMap<string, Settings>): AskedValue {
  const [, inner = written] = /^\$?\{([^]*)\}$/.exec(written) ?? [];
  const [name = inner, ...otherwise] = inner.replace(/^env:/, '').split(':-');
  const input = inner.startsWith('input:') ? inputs.get(inner.slice('input:'.length)) : undefined;
  const said = (word: string) => (typeof input?.[word] === 'string' ? input[word] : undefined);
  return {
    written,
    label: said('description') ?? name.replace(/^(?:input:|\$)/, ''),
    initial: said('default') ?? otherwise.join(':-'),
    secret: input ? input['password'] === true || secret : secret,
  };
}

/**
 * Replaces placeholders with the values that the person gave, by placeholder. One without a value
 * becomes empty.
 */
export function filledIn<Server extends FoundServer>(
  servers: readonly Server[],
  values: Readonly<Record<string, string>>,
): Server[] {
  const fill = (text: string) => text.replace(WRITTEN, (written) => values[written] ?? '');
  const all = (given: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, fill(value)]));
  return servers.map((server) => {
    const { attachment } = server;
    return {
      ...server,
      attachment:
        attachment.kind === 'address'
          ? { ...attachment, url: fill(attachment.url), headers: all(attachment.headers) }
          : {
              ...attachment,
              command: fill(attachment.command),
              args: attachment.args.map(fill),
              env: all(attachment.env),
            },
    };
  });
}

/** Used to validate an address whose host is a placeholder. */
const STAND_IN = 'https://stand-in.invalid/';

/** Reads one server, or returns why it is left out. */
function foundIn(name: string, entry: unknown): { readonly attachment: Attachment; readonly notes: string[] } | string {
  const misfit = sentence`“${name}” has neither an address (url) nor a program (command) that can be used.`;
  const read = entrySchema.safeParse(entry);
  if (!read.success) return misfit;
  const { disabled, enabled, envFile, cwd, type } = read.data;
  if (disabled === true || enabled === false) return sentence`“${name}” is switched off there, and is not connected.`;
  const given = attachmentOf(read.data);
  const isOpen = isRecord(given) && given['kind'] === 'address' && String(given['url']).match(WRITTEN) !== null;
  const attachment = attachmentSchema.safeParse(isOpen ? { ...given, url: STAND_IN } : given);
  if (!attachment.success) return misfit;
  const notes = [
    ...(envFile === undefined
      ? []
      : [
          sentence`“${name}” takes variables from the file ${envFile}, which is not read here. Where it needs them, connect it as a program, with its variables.`,
        ]),
    ...(cwd === undefined ? [] : [sentence`“${name}” is not begun in the folder ${cwd} here.`]),
    ...(type === 'ws' || type === 'websocket'
      ? [sentence`“${name}” is spoken to over HTTP here, and not by a WebSocket.`]
      : []),
  ];
  const settings =
    isOpen && attachment.data.kind === 'address'
      ? { ...attachment.data, url: String((given as Settings)['url']) }
      : attachment.data;
  return { attachment: settings, notes };
}

/** Parses pasted settings into servers to connect. The reason is a sentence for the person. */
export function readMcpServers(pasted: string): ReadServers {
  const text = pasted.replace(/^\uFEFF/, '').trim();
  // People often copy a part without the braces around it.
  const json = jsonIn(text) ?? jsonIn(`{${text.replace(/,\s*$/, '')}}`);
  if (json === undefined || text === '') return { ok: false, reason: NO_JSON };
  const entries = isRecord(json) ? serversIn(json) : null;
  if (!isRecord(json) || !entries || Object.keys(entries).length === 0) return { ok: false, reason: NO_SERVERS };
  const servers = new Map<string, FoundServer>();
  const notes: string[] = [];
  for (const [called, entry] of Object.entries(entries)) {
    const server = foundIn(called, entry);
    const name = mcpNameOf(called);
    if (typeof server === 'string') notes.push(server);
    else if (servers.has(name))
      notes.push(sentence`“${called}” is left out: another one has the same name here. Change one of them.`);
    else {
      servers.set(name, { name, attachment: server.attachment });
      notes.push(...server.notes);
    }
  }
  const [first = NO_SERVERS] = notes;
  if (servers.size === 0) return { ok: false, reason: first };
  const inputs = inputsIn(json);
  const valuesByName = new Map<string, AskedValue>();
  for (const { attachment } of servers.values())
    for (const [given, secret] of textsOf(attachment))
      for (const [written] of given.matchAll(WRITTEN)) {
        const before = valuesByName.get(written)?.secret ?? false;
        valuesByName.set(written, askedFor(written, secret || before, inputs));
      }
  return { ok: true, servers: [...servers.values()], asked: [...valuesByName.values()], notes };
}
