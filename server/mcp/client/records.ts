/**
 * MCP servers as records: the person's settings for each, without secrets. A relay that has lost
 * its home gets them back, and reports which secrets are missing.
 */
import { sentence } from '../../../src/shared/domain/names.ts';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import { mcpServerRecordSchema, type McpServerRecord } from '../../../src/shared/protocol/mcp.ts';
import type { AskedOutcome, AskedRecord, RecordAnswer } from '../../../src/shared/protocol/records.ts';
import {
  type AskedRow,
  createAskedRows,
  hashOf,
  orNoRoom,
  type RecordSource,
  stampRow,
  stampsOf,
  statusAt,
} from '../../team/records/index.ts';
import type { HomeStore } from '../../store/index.ts';
import { namedSecrets, type Sealed, type Value } from './server-state.ts';

/** Stands for the query string of an address, which may be a secret. */
const QUERY = '?';

export const lacking = (names: readonly string[]): string =>
  sentence`The relay’s home was lost, and with it ${names
    .map((name) => (name === QUERY ? sentence`the part after the ? in its address` : name))
    .join(', ')}. Connect the server again under the same name. What you allowed stays.`;

export function recordOf(name: string, { attachment, lacks }: Sealed, { agents, tools }: Value): McpServerRecord {
  const seen = Object.fromEntries(Object.entries(tools).map(([tool, { hash, use }]) => [tool, { hash, use }]));
  const about = { name, removed: false, agents, tools: seen };
  if (attachment.kind === 'program') {
    const { kind, command, args, env, box } = attachment;
    return {
      ...about,
      where: { kind, command, args, box },
      secrets: [...new Set([...Object.keys(env), ...lacks])],
    };
  }
  const { origin, pathname, search } = new URL(attachment.url);
  const secrets = [...namedSecrets(attachment), ...(search === '' ? [] : [QUERY]), ...lacks];
  return { ...about, where: { kind: 'address', url: `${origin}${pathname}` }, secrets: [...new Set(secrets)] };
}

/**
 * The server as stored from now on. `before`: the stored state of the same server, whose secrets
 * stay valid if its address is the same. Null: the server was removed.
 */
export function restored(
  { where, secrets, agents, tools }: McpServerRecord,
  before: Sealed | null,
): { readonly sealed: Sealed; readonly value: Value } | null {
  if (where === null) return null;
  const value: Value = {
    agents,
    // The old tool descriptions are lost. Only their hashes remain.
    tools: Object.fromEntries(
      Object.entries(tools).map(([tool, seen]) => [
        tool,
        { ...seen, title: '', description: '', schema: {}, readOnly: false },
      ]),
    ),
  };
  const same = before && JSON.stringify(recordOf('', before, value).where) === JSON.stringify(where);
  if (same) return { sealed: before, value };
  const attachment = where.kind === 'program' ? { ...where, env: {} } : { ...where, headers: {} };
  return { sealed: { attachment, signIn: null, lacks: [...secrets] }, value };
}

/**
 * Whether the person has already allowed everything in this record: the same server, without a
 * further tool for any further agent.
 */
function isCovered({ name, where, agents, tools }: McpServerRecord, here: McpServerRecord): boolean {
  const isUsed = (tool: string, hash: string) => here.tools[tool]?.use === true && here.tools[tool].hash === hash;
  return (
    name === here.name &&
    JSON.stringify(where) === JSON.stringify(here.where) &&
    Object.entries(tools).every(([tool, { hash, use }]) => !use || isUsed(tool, hash)) &&
    (here.agents === null || (agents !== null && agents.every((agentId) => here.agents?.includes(agentId))))
  );
}

export interface McpServerRecordsDeps extends HomeStore {
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Null: the server is not here, or cannot be read any more. */
  readonly valueOf: (serverId: string) => McpServerRecord | null;
  /** Why the record is refused, as a sentence. Null: it is accepted. */
  readonly take: (serverId: string, record: McpServerRecord, stamp: Stamp) => Promise<string | null>;
  readonly leave: (serverId: string, stamp: Stamp) => Promise<void>;
}

export function createMcpServerRecords({ db, home, inTurn, valueOf, take, leave }: McpServerRecordsDeps): RecordSource {
  const rows = () =>
    db.selectFrom('attached').select(['server', 'stamp', 'removed', 'version']).where('home', '=', home);
  const GONE: McpServerRecord = { name: 'gone', removed: true, where: null, secrets: [], agents: null, tools: {} };

  const askedRows = createAskedRows({ db, home }, 'attached-server');

  /**
   * Whether the local state is at least as new. A local change that was not announced yet has no
   * stamp, and is newer than any other.
   */
  async function isKnown(serverId: string, at: Stamp): Promise<boolean> {
    const row = await rows().where('server', '=', serverId).executeTakeFirst();
    return statusAt(row?.stamp, at) === 'known';
  }
  const restoreOne = (serverId: string, value: McpServerRecord, at: Stamp): Promise<RecordAnswer> =>
    inTurn(async () => {
      if ((await isKnown(serverId, at)) || ((await askedRows.newest([serverId])).get(serverId) ?? '') >= at)
        return { answer: 'kept' };
      const here = valueOf(serverId);
      if (!value.removed && !(here && isCovered(value, here))) {
        await db.transaction().execute((within) => askedRows.put(within, serverId, at, new Map([['', value]])));
        return { answer: 'asked' };
      }
      const why = value.removed ? (await leave(serverId, at), null) : await take(serverId, value, at);
      if (why !== null) return { answer: 'refused', why };
      await askedRows.drop(serverId);
      return { answer: 'taken' };
    });

  const shown = ({ id, value }: AskedRow): Extract<AskedRecord, { type: 'attached-server' }> => {
    const after = mcpServerRecordSchema.parse(value);
    return { type: 'attached-server', id, part: '', hash: hashOf(after), here: valueOf(id), after };
  };
  const answerOne = (serverId: string, hash: string, yes: boolean): Promise<AskedOutcome> =>
    inTurn(async () => {
      const row = await askedRows.get(serverId, '');
      const one = row && shown(row);
      if (!row || one?.hash !== hash) return { outcome: 'over' };
      if (!yes) {
        await askedRows.decline(serverId, '');
        return { outcome: 'done' };
      }
      // A later local change takes precedence.
      const why = (await isKnown(serverId, row.at)) ? null : await take(serverId, one.after, row.at);
      if (why !== null) return { outcome: 'refused', why };
      await askedRows.drop(serverId);
      return { outcome: 'done' };
    });

  return {
    types: ['attached-server'],
    hears: ({ what }) => what === 'mcp-servers',
    says: ['mcp-servers'],
    async unannounced() {
      const changed = await rows().where('stamp', 'is', null).orderBy('server').execute();
      return changed.flatMap(({ server, removed, version }) => {
        const value = removed ? GONE : valueOf(server);
        if (!value) return [];
        return [
          {
            record: { type: 'attached-server' as const, id: server, value },
            announced: (at: Stamp) => stampRow({ db, home, table: 'attached' }, server, version, at),
          },
        ];
      });
    },
    async statuses(versions) {
      const ids = versions.map(({ id }) => id);
      const [stamps, waiting] = [await stampsOf({ db, home, table: 'attached' }, ids), await askedRows.newest(ids)];
      return versions.map(({ id, at }) => ((waiting.get(id) ?? '') >= at ? 'known' : statusAt(stamps.get(id), at)));
    },
    async asked() {
      const all: AskedRecord[] = [];
      for (const row of await askedRows.all())
        if (await isKnown(row.id, row.at)) await askedRows.drop(row.id);
        else all.push(shown(row));
      return all;
    },
    answer: async ({ id, hash, yes }) => await answerOne(id, hash, yes),
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      for (const record of offered)
        answers.push(
          record.type === 'attached-server'
            ? await orNoRoom(restoreOne(record.id, record.value, record.at))
            : { answer: 'refused', why: 'It is no MCP server.' },
        );
      return answers;
    },
  };
}
