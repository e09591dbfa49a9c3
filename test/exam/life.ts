/**
 * The exam: a life from a seed, in which one agent is told facts, and then the questions. The relay
 * is a real one over HTTP. The mind is scripted, so the result says what Roost puts before a mind.
 */
import { randomUUID } from 'node:crypto';
import { versionOf, snapshotOf } from '../../src/page/state/agent-snapshot.ts';
import { startSessionBody } from '../../src/page/state/wake-context.ts';
import { payloadOf } from '../../src/page/state/wake-sizes.ts';
import { DEFAULT_SETTINGS, type Settings } from '../../src/shared/domain/settings.ts';
import { seatColor } from '../../src/shared/domain/seat.ts';
import { textOf } from '../../src/shared/domain/text-of.ts';
import { writeSummon, writeWake } from '../../src/shared/domain/wake-payload.ts';
import { scheduledSchema } from '../../src/shared/protocol/schedules.ts';
import { takeStepsBack } from '../support/earlier-store.ts';
import { openTestRelay, type Browser } from '../support/open-relay.ts';
import { createRandom } from '../support/random.ts';
import { runRelayCommand } from '../support/relay.ts';
import { startScriptedModel } from '../support/scripted-model.ts';
import { docsOfFile, type ExamDevice, openExamDevice } from './device.ts';
import { createFacts, type Fact, type PlantedHow, questionOf, saidOf, statementOf, valueAnswered } from './facts.ts';
import { createExamMind } from './mind.ts';

const DAY_MS = 86_400_000;
/** Tokens of the model on a day with a compaction, and messages that fill them. */
const NARROW = { contextTokens: 16_000, messages: 34, characters: 1_500 } as const;
/** Questions in one session. */
const QUESTIONS = 6;
const FILLER = 'The weather was like this and like that, and we spoke of it for a while. ';

export type Outcome = 'found' | 'lost' | 'out of date' | 'invented';
export interface Answer {
  readonly fact: Fact;
  readonly how: PlantedHow | null;
  readonly said: string;
  readonly outcome: Outcome;
}
export interface ExamResult {
  readonly answers: readonly Answer[];
  readonly sessions: number;
  readonly compactions: number;
  /** Characters of the longest prompt with a first question, without the tools. */
  readonly longestPrompt: number;
  /** Changes of the soul that the agent did not make by `write_soul`. */
  readonly unsignedSouls: number;
}

export interface ExamSize {
  readonly seed: number;
  readonly sessions: number;
  readonly facts: number;
  /** The server that answers the questions. Left out: the scripted mind. */
  readonly asks?: { readonly address: string; readonly key: string; readonly model: string };
}

export function outcomeOf({ values }: Pick<Fact, 'values'>, said: string): Outcome {
  const given = valueAnswered(said);
  if (given === null) return values.length === 0 ? 'found' : 'lost';
  if (given === values.at(-1)) return 'found';
  return values.includes(given) ? 'out of date' : 'invented';
}

interface Plan {
  /** By session: what is told in it, in order. */
  readonly days: readonly { readonly fact: Fact; readonly value: string }[][];
}

/** Each value in a session of its own. The values of one fact come in order. */
function planOf(facts: readonly Fact[], sessions: number, random: () => number): Plan {
  const days: Plan['days'] = Array.from({ length: sessions }, () => []);
  for (const fact of facts) {
    const { length } = fact.values;
    fact.values.forEach((value, n) => {
      // The last value of a fact that changes is told in the last part of the life.
      const [from, to] = [(n * sessions) / length, ((n + 1) * sessions) / length];
      days[Math.floor(from + random() * (to - from))]?.push({ fact, value });
    });
  }
  return { days };
}

/** Makes the home one of an earlier version, and upgrades it as a person does. */
async function upgradeFromEarlier(home: string): Promise<void> {
  takeStepsBack(home);
  const { code, stdout, stderr } = await runRelayCommand(['upgrade', '--home', home]);
  if (code !== 0) throw new Error(`The upgrade: ${stdout}${stderr}`);
}

export async function sitExam({ seed, sessions, facts: count, asks }: ExamSize): Promise<ExamResult> {
  const random = createRandom(seed);
  const facts = createFacts(count, random);
  const soulFacts = facts.filter(({ kind }) => kind === 'soul');
  const soul = () =>
    [
      'I am Lyra, and I keep the light.',
      ...soulFacts.map(({ subject, values }) => statementOf(subject, values.at(-1) ?? '')),
    ].join('\n');
  const told = facts.filter(({ kind }) => kind !== 'soul');
  const { days } = planOf(told, sessions, random);
  const how = new Map<Fact, PlantedHow>(soulFacts.map((fact) => [fact, 'in a session']));
  const mind = createExamMind(soul);
  const model = await startScriptedModel(mind.script);
  const relay = await openTestRelay({
    store: 'sqlite',
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' },
  });
  const browser: Browser = await relay.signIn();
  const devices: (ExamDevice | null)[] = [null, null];
  let at = 0;
  let compactions = 0;
  let signedSouls = 0;

  async function call(method: string, path: string, json?: unknown): Promise<unknown> {
    const response = await browser.fetch(path, { method, ...(json === undefined ? {} : { json }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
  const device = (): ExamDevice => {
    const open = devices[at];
    if (!open) throw new Error('no device is open');
    return open;
  };
  /** Another device is taken up, with what the first one has. */
  async function moveTo(next: number, docs = device().docs()): Promise<void> {
    const known = [...docs];
    await devices[at]?.close();
    devices[at] = null;
    at = next;
    devices[at] = await openExamDevice(browser, known);
  }
  const settingsOf = (more: Partial<Settings>): Settings => ({ ...DEFAULT_SETTINGS, humanName: 'Ada', ...more });
  const answersOf = (agentId: string) =>
    device().events.flatMap((event) => (event.kind === 'message' && event.author === agentId ? [event] : []));
  const lyra = () => {
    const agent = [...device().roster().seats.values()].at(0);
    if (!agent) throw new Error('nobody is born');
    return agent;
  };
  async function say(text: string): Promise<string> {
    const { agentId } = lyra();
    const before = answersOf(agentId).length;
    await call('POST', '/api/messages', { text, clientId: randomUUID(), to: agentId });
    await device().until(`an answer to “${text.slice(0, 80)}”`, () => answersOf(agentId).length > before);
    return textOf(answersOf(agentId).at(-1)?.blocks ?? []);
  }
  async function begin(more: Partial<Settings>): Promise<void> {
    const settings = settingsOf(more);
    await call('POST', '/api/sessions', startSessionBody(null, device().roster(), settings, 'en'));
    const payload = payloadOf(device().share(lyra(), settings));
    if (!payload) throw new Error('the agent has no seat');
    const before = answersOf(payload.id).length;
    await call('POST', '/api/messages', { text: writeWake([payload]), clientId: randomUUID() });
    await device().until('the wake', () => answersOf(payload.id).length > before);
  }
  async function end(): Promise<void> {
    const ends = () => device().events.filter(({ kind }) => kind === 'session-ended').length;
    const before = ends();
    await call('DELETE', '/api/sessions/current');
    await device().until('the end of the session', () => ends() > before);
    relay.pass(DAY_MS);
  }
  /** The agent is set to work alone, and says this. */
  async function work(text: string, notes: boolean): Promise<void> {
    const agent = lyra();
    const settings = settingsOf({});
    const copy = snapshotOf(device().share(agent, settings), { roster: device().roster(), settings }, 'en');
    if (!copy) throw new Error('the agent has no snapshot');
    await call('PUT', `/api/agent-snapshots/${agent.agentId}`, {
      version: versionOf(copy, Date.now()),
      snapshot: copy,
    });
    mind.inRun(notes ? [{ call: 'remember', input: { text } }] : [{ say: text }]);
    const { scheduleId } = scheduledSchema.parse(
      await call('POST', '/v1/pulse-routines', {
        kind: 'routine',
        agentId: agent.agentId,
        name: 'Night',
        instructions: 'Look after the house.',
        tools: null,
        timing: { kind: 'weekly', days: [1], time: '07:30' },
      }),
    );
    const ends = () => device().events.filter(({ kind }) => kind === 'run-ended').length;
    const before = ends();
    await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await device().until('the end of the run', () => ends() > before);
    await call('DELETE', `/v1/pulse-routines/${scheduleId}`);
  }

  try {
    devices[0] = await openExamDevice(browser, []);
    await call('POST', '/api/sessions', startSessionBody(null, device().roster(), settingsOf({}), 'en'));
    await call('POST', '/api/messages', {
      text: writeSummon([{ position: 0, ...seatColor(0) }]),
      clientId: randomUUID(),
    });
    await device().until('the birth', () => device().events.some(({ kind }) => kind === 'agent-born'));
    const { agentId, name } = lyra();
    await call('PUT', '/api/team', { agents: [{ agentId, name, position: 0, retired: false }] });
    await end();

    for (const [day, all] of days.entries()) {
      const isNarrow = day % 9 === 3;
      const isRun = day % 8 === 5;
      const otherModel = day % 4 === 1;
      const otherDevice = day % 5 === 2 ? 1 : 0;
      if (otherDevice !== at) await moveTo(otherDevice);
      const planted: PlantedHow = isNarrow
        ? 'before a compaction'
        : otherModel
          ? 'with another model'
          : otherDevice === 1
            ? 'on another device'
            : day < sessions / 2
              ? 'in a session'
              : 'before an upgrade';
      await begin({
        ...(isNarrow ? { contextTokens: NARROW.contextTokens } : {}),
        ...(otherModel ? { agentModel: 'another-model' } : {}),
      });
      const inSession = isRun ? all.slice(1) : all;
      for (const { fact, value } of inSession) {
        await say(saidOf(fact, value));
        how.set(fact, planted);
      }
      if (isNarrow)
        for (let i = 0; i < NARROW.messages; i++)
          await say(`${i}. ${FILLER.repeat(Math.ceil(NARROW.characters / FILLER.length))}`);
      if (day === Math.floor(sessions / 3)) {
        signedSouls += 1;
        await say('[New soul] Write it anew.');
      }
      await end();
      const [first] = isRun ? all : [];
      if (first) {
        await work(saidOf(first.fact, first.value), day % 16 === 5);
        how.set(first.fact, 'in a run');
      }
      if (day === Math.floor(sessions / 2)) {
        // A new browser begins with the exported file alone.
        const docs = await docsOfFile(await device().exported());
        for (const [fact, before] of how)
          if (before === 'in a session' && fact.kind !== 'soul') how.set(fact, 'before an import');
        await moveTo(at, docs);
      }
      if (day === Math.floor((sessions * 3) / 4)) {
        await devices[at]?.close();
        const known = [...device().docs()];
        await relay.restart(() => upgradeFromEarlier(relay.home));
        devices[at] = await openExamDevice(browser, known);
      }
    }
    const all = device();
    compactions = [...all.docs()].filter((doc) => doc.type === 'message' && doc['compaction'] !== undefined).length;
    const unsignedSouls =
      [...all.docs()].filter(
        (doc) => doc.type === 'agent-change' && JSON.stringify(doc).includes('individuationArtifact'),
      ).length - signedSouls;

    if (asks) await call('POST', '/api/models', { kind: 'server', ...asks });
    const answers: Answer[] = [];
    for (let from = 0; from < facts.length; from += QUESTIONS) {
      await begin({});
      for (const fact of facts.slice(from, from + QUESTIONS)) {
        const said = await say(questionOf(fact.subject));
        answers.push({ fact, how: how.get(fact) ?? null, said, outcome: outcomeOf(fact, said) });
      }
      await end();
    }
    return { answers, sessions, compactions, longestPrompt: mind.longest(), unsignedSouls };
  } finally {
    for (const open of devices) await open?.close();
    await relay.close();
    await model.close();
  }
}
