/**
 * A relay, a model of numbered words, a browser and a person: everything that a round breaks and
 * looks at.
 */
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { isKnown } from '../../src/shared/protocol/documents/kinds.ts';
import type { StoredEvent } from '../../src/shared/protocol/events.ts';
import { createProfile, STILL, type Profile } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { relayMain } from '../support/relay-build.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';
import { demand, faultsOfLedger, faultsOfLog, faultsOfShown } from './checks.ts';
import { readLedger, readRelay, readShown, type Shown } from './evidence.ts';
import { createWords, type Words } from './words.ts';
import { letIn } from '../support/sign-in.ts';

const DESK = { width: 1280, height: 900 };
/** ms that whatever must come about is waited for. */
const PATIENCE = 20_000;
/** ms between two looks. */
const POLL_MS = 25;

/** A seat as people count, or the lead. */
export type Who = number | typeof LEAD_ID;
export const TEAM: readonly Who[] = [LEAD_ID, 1, 2, 3, 4, 6, 7, 8, 9];

export interface House {
  readonly model: ScriptedModel;
  readonly words: Words;
  readonly profile: Profile;
  relay(): TestRelay;
  visitor(): Visitor;
  startRelay(): Promise<void>;
  /** Starts a relay and kills it `ms` later, wherever it is then. */
  startAndKillRelay(ms: number): Promise<void>;
  /** Opens the page in a browser that is let in; a new browser where the last one is gone. */
  openPage(): Promise<Visitor>;
  closeBrowser(how: 'kill'): Promise<void>;
  /** What `who` is called in calls and documents; null where nobody sits there. */
  agentId(who: Who): Promise<string | null>;
  /** Says something to `who` without the page, as another device would. */
  tell(who: Who, text: string): Promise<void>;
  /** Opens each conversation and reads it. */
  readAll(who: readonly Who[]): Promise<Map<Who, Shown[]>>;
  /**
   * Waits until the ledger holds what the relay says and the page shows it, and holds everything
   * against what was before.
   */
  holdAgainst(
    when: string,
    before: Before,
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly shown: ReadonlyMap<Who, readonly Shown[]> }>;
  close(): Promise<void>;
}

/** What there was to lose. */
export interface Before {
  readonly shown: ReadonlyMap<Who, readonly Shown[]>;
  readonly ledger: readonly Doc[];
}

/** Asks again until `holds`, or gives the last answer when patience ends. */
export async function eventually<T>(
  probe: () => Promise<T>,
  holds: (value: T) => boolean,
  patience = PATIENCE,
): Promise<T> {
  for (const end = Date.now() + patience; ; await sleep(POLL_MS)) {
    const value = await probe();
    if (holds(value) || Date.now() > end) return value;
  }
}

export async function createHouse(seed: number, options: BrowserContextOptions = {}): Promise<House> {
  const words = createWords(seed);
  const model = await startScriptedModel(words.script);
  const home = await createHome({ store: 'sqlite' });
  const port = await freePort();
  const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'a-key-of-tests' };
  let relay = await startRelay({ home, port, env });
  const profile = await createProfile();
  let context: BrowserContext | null = null;
  let visitor: Visitor | null = null;
  const here = () => {
    if (!visitor) throw new Error('nobody is at the page');
    return visitor;
  };

  async function read(who: Who): Promise<Shown[]> {
    await here().open(who);
    // Words come onto the page a moment after they are known.
    let last = '';
    return eventually(
      () => readShown(here().page),
      (rows) => {
        const now = JSON.stringify(rows);
        const still = now === last;
        last = now;
        return still;
      },
    );
  }

  const house: House = {
    model,
    words,
    profile,
    relay: () => relay,
    visitor: here,
    async startRelay() {
      // The same browser as before: another sign-in would have a home of its own.
      relay = await startRelay({ home, port, env, signIn: await relay.signIn() });
    },
    async startAndKillRelay(ms) {
      const args = [await relayMain(), '--port', String(port), '--home', home, '--no-open'];
      const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' });
      const gone = new Promise((resolve) => child.once('close', resolve));
      await sleep(ms);
      child.kill('SIGKILL');
      await gone;
    },
    async openPage() {
      context ??= await profile.open({ viewport: DESK, ...STILL, ...options });
      await letIn(context, relay.url, await relay.signIn());
      visitor = await createVisitor(context, relay.url);
      return visitor;
    },
    async closeBrowser() {
      context = null;
      await profile.kill();
    },
    async agentId(who) {
      if (who === LEAD_ID) return LEAD_ID;
      const docs = await readLedger(here().page);
      const seated = docs.flatMap((doc) =>
        isKnown(doc) && doc.type === 'agent-identity' && doc.position === who - 1 ? [doc] : [],
      );
      return seated.sort((a, b) => a.bornAt - b.bornAt)[0]?.agentId ?? null;
    },
    async tell(who, text) {
      // Who is awake on the page may still be on its way into the ledger.
      const agentId = await eventually(
        () => house.agentId(who),
        (id) => id !== null,
      );
      if (agentId === null) throw new Error(`nobody sits in seat ${who}`);
      const response = await relay.fetch('/api/messages', {
        method: 'POST',
        json: { text, clientId: crypto.randomUUID(), ...(agentId === LEAD_ID ? {} : { to: agentId }) },
      });
      if (!response.ok)
        throw new Error(`the relay did not take a message: ${response.status} ${await response.text()}`);
      await response.body?.cancel();
    },
    async readAll(who) {
      const shown = new Map<Who, Shown[]>();
      for (const one of who) shown.set(one, await read(one));
      return shown;
    },
    async holdAgainst(when, before) {
      const { told } = words;
      const events = await readRelay(relay);
      const stored = await eventually(
        async () => faultsOfLedger(before.ledger, await readLedger(here().page), events, told),
        (faults) => faults.length === 0,
      );
      const faults = [...faultsOfLog(events, told), ...stored];
      const shown = new Map<Who, Shown[]>();
      for (const [who, rows] of before.shown) {
        const where = who === LEAD_ID ? 'the lead’s conversation' : `the conversation of seat ${who}`;
        await here().open(who);
        let now: Shown[] = [];
        const wrong = await eventually(
          async () => {
            now = await readShown(here().page);
            return faultsOfShown(where, rows, now, told);
          },
          (so) => so.length === 0,
        );
        shown.set(who, now);
        faults.push(...wrong);
      }
      demand(when, faults);
      return { events, shown };
    },
    async close() {
      await profile.remove();
      await relay.kill('SIGKILL');
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
  await house.openPage();
  await here().begin();
  return house;
}
