/**
 * What a part is measured in: a browser, a relay and a household, each its own as people have them,
 * or shared by all smoke forms.
 */
import { createLastingGuest, createProfile, type Guest } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import type { HouseholdPlan } from '../support/household-generator.ts';
import { openTestRelay } from '../support/open-relay.ts';
import { prepareHousehold, type PreparedHousehold } from '../support/prepared-household.ts';
import { startRelay, type RelayOptions, type TestRelay } from '../support/relay.ts';
import { headersOf } from '../support/sign-in.ts';

export type BenchRelay = Pick<TestRelay, 'url' | 'link' | 'pid' | 'fetch' | 'headers' | 'signIn' | 'stop'>;

/** A household, and the port of its origin: what is served there finds it. */
export type BenchHousehold = PreparedHousehold & { readonly port: number };

export interface Place {
  /** Remove it yourself. */
  newProfile(): Promise<Guest>;
  startRelay(options?: Pick<RelayOptions, 'args' | 'env' | 'port'>): Promise<BenchRelay>;
  /** Remove its profile yourself. */
  prepare(plan: HouseholdPlan): Promise<BenchHousehold>;
}

/** The built relay, a process of its own, and a browser process for each profile. */
export const OWN: Place = {
  newProfile: createProfile,
  startRelay: (options) => startRelay({ ...options, from: 'built' }),
  async prepare(plan) {
    const port = await freePort();
    return { ...(await prepareHousehold(plan, port)), port };
  },
};

/** By plan. */
const households = new Map<string, Promise<BenchHousehold>>();

async function prepareShared(plan: HouseholdPlan): Promise<BenchHousehold> {
  const [port, guest] = [await freePort(), await createLastingGuest()];
  const household = await prepareHousehold(plan, port, () => Promise.resolve(guest));
  // Whoever is done closes what it has opened of it.
  const profile = { open: guest.open, remove: async () => (await guest.open()).close() };
  return { ...household, profile, port };
}

/**
 * The relay of the sources in this very process, and one browser for all. A household is written
 * once for all who ask for the same.
 */
export const SHARED: Place = {
  newProfile: createLastingGuest,
  async startRelay(options) {
    const relay = await openTestRelay(options);
    const link = await relay.link();
    // A link is good once: the browser that opens it, or the first call here.
    let browser: ReturnType<typeof relay.signIn> | null = null;
    const signedIn = () => (browser ??= relay.signIn());
    return {
      url: relay.url,
      link,
      pid: process.pid,
      fetch: async (path, init) => (await signedIn()).fetch(path, init),
      signIn: async () => (await signedIn()).signIn(),
      headers: async () => headersOf(await (await signedIn()).signIn()),
      async stop() {
        await relay.close();
        return { code: 0, signal: null, stdout: '', stderr: '' };
      },
    };
  },
  prepare(plan) {
    const key = JSON.stringify(plan);
    const household = households.get(key) ?? prepareShared(plan);
    households.set(key, household);
    return household;
  },
};

/** The household of all smoke forms. */
export const SMALL = { seed: 1, messages: 20, lastSession: 2, idle: 1 } satisfies HouseholdPlan;
