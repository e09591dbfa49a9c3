/**
 * The continuity exam of an upgrade. It asks no model and costs nothing: each question is the
 * beginning of a line of an agent's soul, memory or last conversation, as the relay has them before
 * the migration. After it, the copy must still have how the line goes on.
 */
import { Kysely } from 'kysely';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { EXAM_LIMITS, type ExamItem } from '../../src/shared/domain/exams.ts';
import { plainAnswer, plainQuestions } from '../../src/shared/domain/plain-exam.ts';
import { isRecord, parseJson } from '../../src/shared/domain/platform/json.ts';
import type { Certificate } from '../exams/index.ts';
import type { Sealer } from '../platform/sealer.ts';
import { createSnapshots } from '../schedules/index.ts';
import { type Db, openEmbedded, parseText } from '../store/index.ts';

const TOPICS = ['soul', 'memory', 'conversation'] as const;
const cut = (text: string): string => text.slice(0, EXAM_LIMITS.answer);

/** What the relay has of one agent. */
interface Remembered {
  /** Id of the home. */
  readonly home: string;
  readonly agentId: AgentId;
  readonly name: string;
  readonly soul: string;
  readonly memory: string;
  readonly conversation: string;
}
/** Remembered agents by home and agent. */
export type RememberedAgents = ReadonlyMap<string, Remembered>;

async function remembered(db: Db, sealer: Sealer): Promise<RememberedAgents> {
  const agents = new Map<string, Remembered>();
  const tables = new Set((await db.introspection.getTables()).map(({ name }) => name));
  // The home is new.
  if (!tables.has('standing_copies')) return agents;
  // Stores of the first versions have no memories.
  const hasMemories = tables.has('memories');
  const snapshots = await db
    .selectFrom('standing_copies')
    .select(['home', 'agent_json'])
    .where('version', '<>', '')
    .execute();
  for (const { home, agent_json: json } of snapshots) {
    const agentId: AgentId = parseText(json);
    const snapshot = await createSnapshots({ db, home, sealer, now: Date.now }).of(agentId);
    if (!snapshot) continue;
    const files = !hasMemories
      ? []
      : await db
          .selectFrom('memories')
          .select('value_json')
          .where('home', '=', home)
          .where('agent_json', '=', json)
          .where('removed', '=', false)
          .orderBy('memory')
          .execute();
    const texts = files.flatMap(({ value_json: text }) => {
      const value = parseJson(text);
      return isRecord(value) && typeof value['text'] === 'string' ? [value['text']] : [];
    });
    agents.set(`${home} ${json}`, {
      home,
      agentId,
      name: snapshot.name,
      soul: snapshot.soul ?? '',
      memory: texts.join('\n'),
      conversation: snapshot.transcript ?? '',
    });
  }
  return agents;
}

/**
 * What the store in this folder has of each agent, read without a migration. Rejects where this
 * version cannot read it.
 */
export async function rememberedIn(folder: string, sealer: Sealer): Promise<RememberedAgents> {
  const { dialect } = await openEmbedded(folder, { onSetAside: undefined, onLost: () => undefined });
  const db: Db = new Kysely({ dialect });
  try {
    return await remembered(db, sealer);
  } finally {
    await db.destroy();
  }
}

export interface UpgradeExam {
  readonly agents: number;
  readonly questions: number;
  /** Names of agents that lost something, each with how many answers. */
  readonly lost: readonly { readonly name: string; readonly count: number }[];
  /** What each agent was asked, with its answers. At most as many as in any exam. */
  readonly certificates: readonly Pick<Certificate, 'home' | 'agentId' | 'items'>[];
}

/**
 * Compares what agents remembered before with what they remember now. A beginning that stands twice
 * has the same answer before and after. Pure.
 */
export function upgradeExam(before: RememberedAgents, after: RememberedAgents): UpgradeExam {
  let questions = 0;
  const certificates: UpgradeExam['certificates'][number][] = [];
  const lost = [...before].flatMap(([key, old]) => {
    const items = TOPICS.flatMap((topic) => {
      const now = after.get(key)?.[topic] ?? '';
      return plainQuestions([{ topic, text: old[topic] }]).map((question): ExamItem => {
        const [first, second] = [plainAnswer(question.question, old[topic]), plainAnswer(question.question, now)];
        return {
          ...question,
          before: { text: cut(first), isRight: true },
          after: { text: cut(second), isRight: second === first },
        };
      });
    });
    questions += items.length;
    const count = items.filter((item) => item.after.isRight !== true).length;
    const { home, agentId, name } = old;
    const share = Math.floor(EXAM_LIMITS.questions / TOPICS.length);
    certificates.push({
      ...{ home, agentId },
      items: TOPICS.flatMap((topic) => items.filter((item) => item.topic === topic).slice(0, share)),
    });
    return count === 0 ? [] : [{ name, count }];
  });
  return { agents: before.size, questions, lost, certificates: certificates.filter(({ items }) => items.length > 0) };
}
