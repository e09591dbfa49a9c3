/**
 * 100 dreams over a seeded month: four agents are told things by day, read what tools return, and
 * dream by night. The mind of the dreams is greedy. It also tries to write too much, to repeat what
 * is there, and to copy what tools returned.
 */
import { growthFault, mostAfterDream } from '../../src/shared/domain/dreams.ts';
import { linesOf } from '../../src/shared/domain/memory-lines.ts';
import type { SeatPosition } from '../../src/shared/domain/seat.ts';
import type { MemorySource } from '../../src/shared/protocol/memories.ts';
import { createRandom } from '../support/random.ts';
import { SNAPSHOT, createHandClock } from '../support/schedules.ts';
import { type Part, type Reply, type ScriptedRequest, teamScript } from '../support/scripted-model.ts';
import { openSessionBench, payload } from '../support/session.ts';
import { definePart } from './part.ts';

interface Sizes {
  readonly answerSchedules: number;
  readonly agents: readonly SeatPosition[];
}
const SEED = 1;
const DAY_MS = 86_400_000;
/** What the memory has before: more than the bytes up to which a small one may grow. */
const OLD_NOTES = 60;
const GROWTH_BAR = 1.2;
/** Bytes that a dream wants at first, and those that it leaves for its notes. */
const GREED = 90_000;
const ROOM = 400;
/** Characters from which a result of a tool cannot be words of somebody. */
const LEAST_RESULT = 60;
const OWN_FILE = 'days.md';
const BY_HUMAN: MemorySource = { by: 'human', sessionId: null, runId: null, read: [] };

const isDream = ({ system }: ScriptedRequest) => system.includes('You dream,');
const idOf = (position: SeatPosition) => `agent-${position}`;
const call = (input: object): Reply => [{ call: 'memory', input }];

/** What a dream does, request by request, from what it reads. */
function createDreamer(random: () => number) {
  return (request: ScriptedRequest): Reply => {
    const text = JSON.stringify(request.body.messages);
    const facts = [...new Set(text.match(/Fact \d+: [^"\\]+?\./g) ?? [])];
    const turn = request.body.messages.filter(({ role }) => role === 'assistant').length;
    // The agent has noted it by day, in its own words.
    const note = (fact: string) => `- 2026-03-01: Ada said: ${fact}`;
    const bounds = /may have (\d+) after it\. This would make it (\d+)/.exec(request.results.at(-1) ?? '');
    switch (turn) {
      case 0:
        return call({ command: 'view', path: 'old.md' });
      case 1:
        // Far more than a fifth.
        return call({ command: 'create', path: 'all.md', file_text: 'x'.repeat(GREED) });
      case 2:
        // To the byte.
        return call({
          ...{ command: 'create', path: 'all.md' },
          file_text: 'x'.repeat(Math.max(1, GREED - Number(bounds?.[2] ?? GREED) + Number(bounds?.[1] ?? 0) - ROOM)),
        });
      case 3:
        return call({
          command: 'insert',
          path: 'old.md',
          insert_line: 0,
          insert_text: '- 2026-01-01: Note 1 of the year.',
        });
      case 4:
        return call({
          ...{ command: 'create', path: OWN_FILE },
          file_text: `${facts
            .slice(-1 - Math.floor(random() * 4))
            .map(note)
            .join('\n')}\n`,
        });
      case 5:
        return call({
          ...{
            command: 'str_replace',
            path: 'old.md',
            old_str: `Note ${Math.floor(random() * OLD_NOTES)} of the year.`,
          },
          new_str: `${facts.at(-1) ?? 'It is quiet.'} It was so before.`,
        });
      default:
        return [{ say: 'I noted the day.' }];
    }
  };
}

/** The whole month. */
async function dreamt({ answerSchedules, agents }: Sizes) {
  const bench = await openSessionBench();
  try {
    const random = createRandom(SEED);
    const clock = createHandClock(Date.UTC(2026, 2, 1, 12));
    const [usual, dreamer] = [teamScript(), createDreamer(random)];
    /** What tools returned, as it would stand in a request. */
    const raw = new Set<string>();
    const seen: string[] = [];
    const house = await bench.open({
      now: clock.now,
      script(request) {
        if (isDream(request)) {
          seen.push(JSON.stringify(request.body));
          return dreamer(request);
        }
        // The results come without the words that they answer.
        if (request.seat === null || !JSON.stringify(request.body.messages.slice(-3)).includes('Fact '))
          return usual(request);
        for (const result of request.results)
          if (result.length >= LEAST_RESULT) raw.add(JSON.stringify(result).slice(1, -1));
        const calls: Part[] = [
          { call: 'wake_limits', input: {} },
          { call: 'list_team', input: {} },
          { call: 'remember', input: { text: request.last.trim() } },
        ];
        return request.results.length > 0 ? [{ say: 'Noted.' }] : calls;
      },
    });
    const { directory, snapshots, memories, configs, dreams } = house.team;
    await directory.set({
      agents: agents.map((position) => ({
        ...{ agentId: idOf(position), name: `Name ${position}`, position, retired: false },
      })),
    });
    await configs.setHousehold({ coordination: { dreams: 'adopt', dream_hour: 0 } });
    const old = Array.from(
      { length: OLD_NOTES },
      (_none, i) => `- 2026-01-01: Note ${i} of the year. ${'It was so. '.repeat(6)}\n`,
    );
    for (const position of agents) {
      await snapshots.leave(idOf(position), { ...SNAPSHOT, name: `Name ${position}`, position }, 'v1');
      await memories.add(idOf(position), { path: 'old.md', text: old.join('') }, BY_HUMAN);
    }
    const filesOf = async () => (await Promise.all(agents.map((position) => memories.list(idOf(position))))).flat();
    const said = (agentId: string) => house.of('message').filter(({ author }) => author === agentId).length;
    let fact = 0;
    let [count, adopted, growth, over] = [0, 0, 0, 0];
    for (let night = 0; night < answerSchedules; night++) {
      await house.start();
      await house.wake(agents.map((position) => payload(position)));
      const awake = () => house.of('agent-awake').length;
      await house.until(() => awake() >= agents.length * (night + 1));
      await house.untilQuiet();
      for (const position of agents) {
        const before = said(idOf(position));
        await house.post({ text: `Fact ${++fact}: the heron came at ${fact % 24}.`, to: idOf(position) });
        await house.until(() => said(idOf(position)) > before);
        await house.untilQuiet();
      }
      await house.host.end('ended');
      clock.pass(DAY_MS / 2);
      await dreams.look();
      for (const position of agents) {
        const [dream] = await dreams.of(idOf(position));
        if (!dream || dream.changedAt < clock.now() - DAY_MS / 4) continue;
        count += 1;
        if (dream.state === 'adopted') adopted += 1;
        growth = Math.max(growth, dream.bytesAfter / Math.max(1, dream.bytesBefore));
        if (growthFault(dream.bytesBefore, dream.bytesAfter) !== null) over += 1;
      }
      clock.pass(DAY_MS / 2);
    }
    const files = await filesOf();
    const lines = files.flatMap(linesOf);
    const written = lines.filter(({ text }) => text.trim() !== '');
    return {
      ...{ count, adopted, growth, over },
      lines: written.length,
      sourceless: written.filter(
        ({ origin: { source } }) => source.by !== 'human' && source.sessionId === null && source.runId === null,
      ).length,
      rawNoted: [...raw].filter((result) => files.some(({ text }) => JSON.stringify(text).includes(result))).length,
      rawRead: [...raw].filter((result) => seen.some((body) => body.includes(result))).length,
      raw: raw.size,
      refused: house.model.requests
        .filter(isDream)
        .flatMap(({ results }) => results)
        .filter((result) => result.includes('may have') || result.includes('has this note already')).length,
    };
  } finally {
    await bench.close();
  }
}

export const memoryDreams = definePart<Sizes>({
  name: 'memory-dreams',
  needs: 'relay',
  full: { answerSchedules: 25, agents: [0, 1, 2, 3] },
  smoke: { answerSchedules: 2, agents: [0, 1] },
  async run(sizes) {
    const month = await dreamt(sizes);
    const none = (what: string) => ({ kind: 'limit', what, value: 0 }) as const;
    return {
      title: 'A month of dreams',
      method: `seed ${SEED}; ${sizes.agents.length} agents, ${sizes.answerSchedules} nights, each dream adopted; a memory of ${mostAfterDream(0).toLocaleString('en')} bytes and more`,
      figures: [
        {
          what: 'dreams that were adopted',
          value: month.adopted,
          unit: '',
          beside: { kind: 'least', what: `of ${month.count}`, value: sizes.answerSchedules * sizes.agents.length },
        },
        {
          what: 'the largest memory after a dream, against before',
          value: month.growth,
          unit: '×',
          beside: { kind: 'limit', what: `${month.refused} writes were refused`, value: GROWTH_BAR },
        },
        { what: 'dreams that grew a memory by more', value: month.over, unit: '', beside: none('') },
        {
          what: 'results of tools in a memory',
          value: month.rawNoted,
          unit: '',
          beside: none(`of ${month.raw} that tools returned`),
        },
        { what: 'results of tools that a dream read', value: month.rawRead, unit: '', beside: none('') },
        { what: 'lines without a source', value: month.sourceless, unit: '', beside: none(`of ${month.lines}`) },
      ],
    };
  },
});
