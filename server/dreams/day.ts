/** What was said in a day: the messages that a dream reads. */
import { DREAM_LIMITS, type DayMessage } from '../../src/shared/domain/dreams.ts';
import type { AgentId, MessageId, RunId } from '../../src/shared/domain/ids.ts';
import { shownName } from '../../src/shared/domain/names.ts';
import { textOf } from '../../src/shared/domain/text-of.ts';
import type { EventLog } from '../log/index.ts';
import type { Directory } from '../team/directory/index.ts';
import type { DreamRows } from './rows.ts';

/** A message of the log. */
interface LoggedMessage extends DayMessage {
  readonly messageId: MessageId;
  readonly runId: RunId | null;
}
type Logged = ReadonlyMap<AgentId, readonly LoggedMessage[]>;

/** What was said to an agent and by it since its last dream, without dreams. */
export type ReadDay = (agentId: AgentId) => Promise<readonly DayMessage[]>;

/** Events per read of the log. */
const PAGE = 2_000;

interface DaysDeps {
  readonly rows: Pick<DreamRows, 'of'>;
  readonly log: Pick<EventLog, 'read'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
}

/** Returns what reads the days of one look at what is due. It reads the log at most once. */
export function createReadDay({ rows, log, directory, now }: DaysDeps): () => ReadDay {
  /**
   * What was said to each agent and by it within the time that a dream reads, without summaries and
   * notices. One read of the log serves all agents.
   */
  async function readLog(): Promise<Logged> {
    const team = new Map((await directory.all()).map(({ agentId: id, name }) => [id as string, name]));
    const nameOf = (author: string, agentId: AgentId) => {
      if (author === agentId) return 'you';
      return author === 'human' ? 'the human' : shownName(team.get(author) ?? 'somebody', 'agent');
    };
    const since = now() - DREAM_LIMITS.dayMs;
    const byAgent = new Map<AgentId, LoggedMessage[]>();
    for (let after = 0; ;) {
      const page = await log.read(after, PAGE);
      for (const { event } of page) {
        if (event.kind !== 'message' || event.author === 'relay' || event.time < since || event.compaction) continue;
        const { agentId, messageId, replaces, time, author, runId = null } = event;
        const messages = byAgent.get(agentId) ?? [];
        byAgent.set(agentId, messages);
        const replaced = replaces === null ? -1 : messages.findIndex((message) => message.messageId === replaces);
        if (replaced >= 0) messages.splice(replaced);
        const text = textOf(event.blocks).trim();
        if (text !== '') messages.push({ messageId, runId, time, by: nameOf(author, agentId), text });
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE) return byAgent;
      after = last.id;
    }
  }

  return () => {
    let read: Promise<Logged> | null = null;
    return async (agentId) => {
      const before = await rows.of(agentId, DREAM_LIMITS.stored);
      const lastRead = before.find(({ state }) => state !== 'failed' && state !== 'due')?.madeAt ?? 0;
      const dreams = new Set(before.map(({ runId }) => runId));
      const messages = (await (read ??= readLog())).get(agentId) ?? [];
      return messages.filter(({ time, runId }) => time >= lastRead && (runId === null || !dreams.has(runId)));
    };
  };
}
