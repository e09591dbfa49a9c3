/**
 * A household that lives through many sessions: talks, wakes that are followed by nothing, agents
 * that fail to wake, messages as long as books, letters, a relay that is killed in mid-answer and
 * comes back with another clock, and two devices that take turns. The relay is a process of its
 * own; each device is the built page in a Chromium of its own, with its own ledger, that knows what
 * happened on the other one by sealed entries alone, wherever the relay has let go of what it said.
 * What is looked at is what the model was sent.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rosterOf, type Agent } from '../../src/shared/domain/agent.ts';
import { isSeatPosition, LEAD_ID, seatColor, seatNumber } from '../../src/shared/domain/seat.ts';
import { createClock } from '../../src/shared/domain/stamp.ts';
import { writeSummon } from '../../src/shared/domain/wake-payload.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { eventSchema, type RoostEvent } from '../../src/shared/protocol/events.ts';
import { pair } from '../support/devices.ts';
import { openEventSource, type OpenStream } from '../support/event-source.ts';
import { freePort } from '../support/free-port.ts';
import { createRandom } from '../support/random.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type Script } from '../support/scripted-model.ts';
import { headersOf, type SignIn } from '../support/sign-in.ts';
import { createLifeDevice, type LifeDevice } from './life-device.ts';
import { createOracle, factText, faultsOf } from './memory-oracle.ts';
import { pick } from './pick.ts';

const CAP = 8_000;
const DAY_MS = 86_400_000;
const SEATS = [0, 1] as const;
const BOOK = 'A long story, and nothing in it matters much. '.repeat(2_000);
const PATIENCE_MS = 20_000;

export interface LifeReport {
  readonly sessions: number;
  readonly wakes: number;
  readonly facts: number;
  /** Of the relay, and of a browser. */
  readonly kills: number;
  /**
   * How often the other device was taken up; and of these, how often nothing but sealed entries
   * said what had happened.
   */
  readonly turns: number;
  readonly sealed: number;
}

/**
 * Lives `sessions` sessions. Rejects with what was wrong with a prompt, and after which session.
 */
export async function liveMemoryLife({
  seed,
  sessions,
}: {
  readonly seed: number;
  readonly sessions: number;
}): Promise<LifeReport> {
  const random = createRandom(seed);
  const chance = (of: number) => random() < of;
  const oracle = createOracle();
  const home = await createHome();
  const port = await freePort();
  const failing = new Set<number>();
  const report = { sessions: 0, wakes: 0, facts: 0, kills: 0, turns: 0, sealed: 0 };
  const fact = () => factText(++report.facts);

  const usual = teamScript({
    souls: { 1: 'I keep the light in seat one.', 2: 'I count the waves in seat two.' },
    names: { 1: 'Lyra', 2: 'Wren' },
  });
  const script: Script = (request) => {
    const { seat, last, body, results } = request;
    if (seat !== null && failing.has(seat) && body.messages.length === 1)
      return { fail: { status: 400, type: 'invalid_request_error', message: 'No.' } };
    // A call to the team and a prompt that wakes carry what was said before. A letter is quoted;
    // who said it back would tell it twice.
    const isNew =
      /^(?:> )*¶/m.test(last) && !/^\[(WAKE|SUMMON) AGENTS\]/.test(last) && (seat === null || body.messages.length > 1);
    if (!isNew)
      return results.length > 0 && seat !== null && body.messages.length > 3 ? [{ say: 'Done.' }] : usual(request);
    const asked = /¶(\w+)/.exec(last)?.[1];
    if (asked === 'slow') return [{ say: 'One word after another, slowly. '.repeat(100), chunk: 10, everyMs: 20 }];
    if (asked === 'write')
      return [{ call: 'message_agent', input: { to: 'Wren', message: `¶ A letter with ${fact()}.` } }];
    return [{ say: 'Noted.' }];
  };
  const model = await startScriptedModel(script);

  let offset = 0;
  let cursor = 0;
  let signIn: SignIn | null = null;
  let opened: { readonly relay: TestRelay; readonly stream: OpenStream } | null = null;
  const devices: LifeDevice[] = [];
  const line = () => {
    if (!opened) throw new Error('the relay does not run');
    return opened;
  };
  let read = 0;
  const events: RoostEvent[] = [];

  async function open(): Promise<SignIn> {
    const skew = `data:text/javascript,${encodeURIComponent(`const now=Date.now;Date.now=()=>now()+(${offset})`)}`;
    const relay = await startRelay({
      home,
      port,
      // What a browser has stored is dropped with the first acknowledgement after a start.
      args: ['--retention-hours', '0'],
      env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test', NODE_OPTIONS: `--import=${skew}` },
    });
    // The household stays where it is: another sign-in would be another one.
    signIn ??= await relay.signIn();
    const headers = headersOf(signIn);
    const stream = await openEventSource((signal) =>
      fetch(`${relay.url}/api/events?after=${cursor}`, { headers, signal }),
    );
    if (!stream.response.ok) throw new Error(`the events: ${stream.response.status}`);
    opened = { relay, stream };
    read = 0;
    return signIn;
  }
  async function end(): Promise<void> {
    opened?.stream.close();
    await opened?.relay.stop();
  }
  function hear(): void {
    const { messages } = line().stream;
    for (; read < messages.length; read++) {
      const message = messages[read];
      if (message?.id === undefined) continue;
      const event = eventSchema.parse(message.data);
      cursor = Number(message.id);
      events.push(event);
      oracle.hear(event);
    }
  }
  async function until(what: string, enough: () => boolean | Promise<boolean>): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    for (hear(); !(await enough()); hear()) {
      if (Date.now() > end)
        throw new Error(
          `waited for ${what}; the last events: ${events
            .slice(-12)
            .map((event) => JSON.stringify(event).slice(0, 160))
            .join('\n')}`,
        );
      await sleep(5);
    }
  }
  const countEvents = (kind: RoostEvent['kind']) => events.filter((event) => event.kind === kind).length;
  const untilMore = async (kind: RoostEvent['kind'], act: () => Promise<void>, more = 1) => {
    hear();
    const before = countEvents(kind);
    await act();
    await until(kind, () => countEvents(kind) >= before + more);
  };
  /** Nobody says anything any more, and nothing is under way. */
  const untilQuiet = () =>
    until('quiet', () => {
      const open = new Set<string>();
      let calls = 0;
      for (const event of events) {
        if (event.kind === 'answer-started') open.add(event.messageId);
        else if (event.kind === 'message') open.delete(event.messageId);
        else if (event.kind === 'call-started') calls += 1;
        else if (event.kind === 'call-ended') calls -= 1;
      }
      return open.size === 0 && calls <= 0;
    });
  async function call(path: string, method: string, json?: unknown): Promise<void> {
    const response = await fetch(`${line().relay.url}${path}`, {
      method,
      headers: {
        ...(signIn ? headersOf(signIn) : {}),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    await response.body?.cancel();
  }
  const post = (text: string, to = LEAD_ID) =>
    call('/api/messages', 'POST', { text, clientId: randomUUID(), ...(to === LEAD_ID ? {} : { to }) });

  async function teamOf(device: LifeDevice): Promise<readonly Agent[]> {
    const view = await device.browser().owner.call('household');
    return [
      ...rosterOf(
        view.identities.map((one) => ({ ...one, id: one._id })),
        view.changes.map((one) => ({ ...one, id: one._id })),
      ).seats.values(),
    ];
  }
  const endButton = (device: LifeDevice) => device.visitor().page.getByRole('button', { name: 'End session' });
  const untilOver = (device: LifeDevice) => endButton(device).waitFor({ state: 'hidden' });

  /**
   * The relay was off for the night: its clock is another one, and it lets go of all that a browser
   * has stored.
   */
  async function sleepOver(): Promise<void> {
    hear();
    line().stream.close();
    await line().relay.stop();
    offset = Math.floor((random() - 0.5) * 4) * DAY_MS;
    await open();
    await call('/api/events/ack', 'POST', { upTo: cursor });
    const again = await openEventSource((signal) =>
      fetch(`${line().relay.url}/api/events?after=0`, {
        headers: headersOf(signIn ?? { cookie: '', key: '' }),
        signal,
      }),
    );
    await again.until((messages) => messages.length > 0);
    again.close();
    // The end of the last session stays, for whoever asks how things are.
    const left = again.messages.filter(
      ({ id, data }) => id !== undefined && Number(id) <= cursor && eventSchema.parse(data).kind !== 'session-ended',
    );
    // Where its clock went back, it takes what it stored for new, and keeps it a while longer.
    if (left.length === 0) report.sealed += 1;
  }
  async function takeTurns(from: LifeDevice, to: LifeDevice): Promise<void> {
    if (chance(0.2)) {
      // What it heard may not be sealed yet: the relay has it, for a day.
      await from.kill();
      report.kills += 1;
    } else {
      await from.close();
      if (chance(0.7)) await sleepOver();
    }
    await to.open();
    report.turns += 1;
  }

  /**
   * Wakes everybody who sleeps, as a person does, and looks at what the model was sent for each.
   */
  async function wake(device: LifeDevice, agents: readonly Agent[], begins: boolean, after: string): Promise<void> {
    hear();
    const expected = [...agents, null].map((agent) => ({
      agent,
      facts: oracle.lastFacts(agent?.agentId ?? LEAD_ID),
      soul: agent ? oracle.soulOf(agent.agentId) : null,
    }));
    const from = model.requests.length;
    const { page, press } = device.visitor();
    const before = countEvents('call-ended');
    await press('WAKE');
    await until('the end of the call', async () => {
      if (countEvents('call-ended') > before) return true;
      const goOn = page.getByRole('button', { name: 'Continue' });
      if (!(await goOn.isVisible())) return false;
      await goOn.click();
      await endButton(device).waitFor();
      await press('WAKE');
      return false;
    });
    await untilQuiet();
    report.wakes += 1;
    const requests = model.requests.slice(from);
    const faults = expected.flatMap(({ agent, facts, soul }) => {
      const about = { who: agent?.name ?? 'the lead', facts, soul, cap: CAP };
      if (agent && isSeatPosition(agent.position)) {
        const seat = seatNumber(agent.position);
        const request = requests.find((one) => one.seat === seat && one.body.messages.length === 1);
        return request ? faultsOf(`${request.system}\n${request.first}`, about) : [`${agent.name} was not asked`];
      }
      // The lead's system prompt stands as it was when the session began.
      const request = requests.find((one) => one.seat === null);
      return !request || !begins ? [] : faultsOf(request.system, about);
    });
    if (faults.length > 0) throw new Error(`${after}: ${faults.join('; ')}`);
  }

  const clock = createClock({ now: Date.now, node: 'page' });
  const setting = (key: string, value: unknown): Doc => ({
    _id: `setting:${key}`,
    type: 'setting',
    schema: 1,
    at: clock.next(),
    key,
    value,
  });

  try {
    const cookie = await open();
    const { url } = line().relay;
    for (const name of ['the laptop', 'the phone']) devices.push(await createLifeDevice(name, url, cookie));
    const [laptop, phone] = devices;
    if (!laptop || !phone) throw new Error('there are two devices');
    await laptop.open();
    await laptop.visitor().begin('Ada', 'Julian');
    await laptop.browser().owner.call('append', [setting('transcriptCap', CAP), setting('wakeTimeoutMs', 5_000)]);
    await untilMore('session-started', () =>
      call('/api/sessions', 'POST', {
        human: { name: 'Ada' },
        lead: { name: 'Julian', soul: null, transcript: null },
        settings: {},
      }),
    );
    await untilMore('call-ended', () =>
      post(writeSummon(SEATS.map((position) => ({ position, ...seatColor(position) })))),
    );
    await untilMore('session-ended', () => laptop.visitor().press('End session'));
    await phone.open();
    await pair(laptop.browser(), phone.browser());
    await phone.close();

    let device = laptop;
    for (let n = 1; n <= sessions; n++) {
      const next = chance(0.5) ? laptop : phone;
      const after = `seed ${seed}, session ${n}, on ${next.name}`;
      if (next !== device) await takeTurns(device, next);
      device = next;
      const visitor = device.visitor();
      await visitor.untilSeats('the two of them', (seats) =>
        seats.every(({ seat, state }) => state === (SEATS.some((at) => at + 1 === seat) ? 'sleeping' : 'empty')),
      );
      const team = await teamOf(device);
      const [lyra] = team;
      if (!lyra || team.length !== SEATS.length) throw new Error(`${after}: ${team.length} agents are born`);
      // What is said to somebody who sleeps waits for it.
      if (chance(0.15)) {
        await visitor.open(pick(random, [1, 2], 1)[0] ?? 1);
        await visitor.say(`¶ While you slept: ${fact()}.`);
      }
      failing.clear();
      if (chance(0.15)) failing.add(pick(random, [1, 2], 1)[0] ?? 1);
      await wake(device, team, true, after);
      const awake = team.filter(({ position }) => isSeatPosition(position) && !failing.has(seatNumber(position)));
      failing.clear();

      // Half of all sessions are a wake and nothing more.
      if (chance(0.5)) {
        for (const to of pick(
          random,
          [LEAD_ID, ...awake.map(({ agentId }) => agentId)],
          1 + Math.floor(random() * 3),
        )) {
          for (let said = 1 + Math.floor(random() * 4); said > 0; said--)
            await untilMore('message', () => post(`¶ You should know ${fact()}.`, to), 2);
          for (let books = chance(0.2) ? 1 + Math.floor(random() * 3) : 0; books > 0; books--)
            await untilMore('message', () => post(`¶ ${fact()} ${BOOK}`, to), 2);
        }
        if (chance(0.3) && awake.includes(lyra))
          await untilMore('message', () => post('¶write to her.', lyra.agentId), 2);
        const [again] = awake;
        if (chance(0.2) && again) {
          await untilQuiet();
          await untilMore('agent-asleep', () => call(`/api/agents/${again.agentId}/sleep`, 'POST'));
          await wake(
            device,
            team.filter((one) => one === again || !awake.includes(one)),
            false,
            `${after}, woken again in it`,
          );
        }
        await untilQuiet();
      }
      if (chance(0.15) && awake.length > 0) {
        await untilMore('text', () => post(`¶slow ${fact()}`, awake[0]?.agentId));
        hear();
        line().stream.close();
        await line().relay.kill('SIGKILL');
        report.kills += 1;
        offset = Math.floor((random() - 0.5) * 4) * DAY_MS;
        await open();
        await until(
          'the end of the session',
          () =>
            events.findLast((event) => event.kind === 'session-ended' || event.kind === 'session-started')?.kind ===
            'session-ended',
        );
      } else await untilMore('session-ended', () => visitor.press('End session'));
      await untilOver(device);
      report.sessions += 1;
    }
    const { complaints } = device.visitor();
    if (complaints.length > 0) throw new Error(`${device.name} complained: ${complaints.join('; ')}`);
    return report;
  } finally {
    await Promise.all(devices.map((one) => one.remove()));
    await end();
    await model.close();
  }
}
