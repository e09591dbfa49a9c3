/**
 * What a WAKE carries, gathered: from asking the ledger's owner to the finished message for all eight, from a ledger of
 * years whose last conversation lies behind many wakes that were followed by nothing.
 */
import type {} from '../support/bench-page/main.ts';
import { freePort } from '../support/free-port.ts';
import { AGENTS } from '../support/household-generator.ts';
import { buildPage, servePage } from '../support/page-server.ts';
import { prepareHousehold } from '../support/prepared-household.ts';
import { median, percentile, type Section } from './figures.ts';

/** Messages over years; and wakes of all eight since anybody said anything to them. */
const MESSAGES = 10_000;
const IDLE = 1_000;
const CAP = 24_000;
const WAKES = 31;
/** Spec 2.5. */
const LIMIT_MS = 50;
const RATIO_LIMIT = 1.3;

interface Gathered {
  readonly times: readonly number[];
  readonly chars: number;
  readonly messages: number;
}

async function gather(idle: number): Promise<Gathered> {
  const port = await freePort();
  const { profile } = await prepareHousehold({ seed: 1, messages: MESSAGES, idle }, port);
  const built = await buildPage('bench-page');
  const server = await servePage(built, undefined, { port });
  try {
    const page = await (await profile.open()).newPage();
    await page.goto(server.url);
    const agentIds = AGENTS.map(({ agentId }) => agentId);
    const all = [];
    for (let n = 0; n <= WAKES; n++)
      all.push(
        await page.evaluate(({ agentIds, cap }) => window.bench.wakePayload(agentIds, cap), { agentIds, cap: CAP }),
      );
    const [, ...warm] = all;
    return { times: warm.map(({ ms }) => ms), chars: warm[0]?.chars ?? 0, messages: warm[0]?.messages ?? 0 };
  } finally {
    await profile.remove();
    await server.close();
  }
}

/** The figures; about two minutes, nearly all of it for writing two households. */
export async function wakePayload(): Promise<Section> {
  const talked = await gather(0);
  const idle = await gather(IDLE);
  const size = ({ chars, messages }: Gathered) =>
    `${messages} messages, ${Math.round(chars / 1_000)} thousand characters`;
  const behind = MESSAGES.toLocaleString('en');
  const limit = (of: Gathered) => ({ kind: 'limit', what: size(of), value: LIMIT_MS }) as const;
  return {
    title: 'What a WAKE of eight carries, gathered',
    method: `median of ${WAKES}, from asking the owner to the finished message; cap of ${CAP.toLocaleString('en')} characters each; ${behind} messages behind the last conversation`,
    figures: [
      { what: 'after a conversation', value: median(talked.times), unit: 'ms', beside: limit(talked) },
      { what: '  95 % within', value: percentile(talked.times, 0.95), unit: 'ms', beside: limit(talked) },
      {
        what: `after ${IDLE.toLocaleString('en')} wakes that nothing followed`,
        value: median(idle.times),
        unit: 'ms',
        beside: limit(idle),
      },
      { what: '  95 % within', value: percentile(idle.times, 0.95), unit: 'ms', beside: limit(idle) },
      {
        what: '  against the first',
        value: median(idle.times) / median(talked.times),
        unit: '×',
        beside: { kind: 'limit', what: 'whatever lies behind', value: RATIO_LIMIT },
      },
    ],
  };
}
