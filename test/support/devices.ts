/** Real browsers on one relay that become devices of one household, for tests to drive. */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { SyncStatus } from '../../src/shared/protocol/sync/page.ts';
import { createProfile, type Guest, type Profile, QUIET } from './chromium.ts';
import { shareSignIn } from './sign-in.ts';
import { createOwnerLine, type OwnerLine } from './owner-line.ts';

export type SharedStatus = Extract<SyncStatus, { kind: 'shared' }>;

export interface DeviceBrowser<In extends Guest = Profile> {
  readonly profile: In;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly owner: OwnerLine;
  /** Throws where this browser is no device of a household. */
  status(): Promise<SharedStatus>;
  /** Waits until the status is so; fails with what it is. */
  until(what: string, holds: (status: SharedStatus) => boolean): Promise<SharedStatus>;
}

const PATIENCE_MS = 60_000;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function deviceOf<In extends Guest>(profile: In, context: BrowserContext, page: Page): DeviceBrowser<In> {
  const owner = createOwnerLine(page);
  const device: DeviceBrowser<In> = {
    profile,
    context,
    page,
    owner,
    async status() {
      const status = await owner.call('syncStatus');
      if (status.kind !== 'shared') throw new Error(`This browser is ${status.kind}.`);
      return status;
    },
    async until(what, holds) {
      for (const end = Date.now() + PATIENCE_MS; ; await pause(50)) {
        const status = await owner.call('syncStatus');
        if (status.kind === 'shared' && holds(status)) return status;
        if (Date.now() > end) throw new Error(`waited for ${what}; it is ${JSON.stringify(status)}`);
      }
    },
  };
  return device;
}

/**
 * Opens the relay's page in a profile of its own; `signedIn`: a browser whose sign-in it shares.
 */
export async function openDevice(
  url: string,
  signedIn: BrowserContext,
  { profile, ...options }: BrowserContextOptions & { readonly profile?: Profile } = {},
): Promise<DeviceBrowser> {
  return await openDeviceIn(profile ?? (await createProfile()), url, signedIn, options);
}

/** As `openDevice`, in this profile or guest. */
export async function openDeviceIn<In extends Guest>(
  own: In,
  url: string,
  signedIn: BrowserContext,
  options: BrowserContextOptions = {},
): Promise<DeviceBrowser<In>> {
  const context = await own.open({ ...QUIET, ...options });
  await shareSignIn(signedIn, context, url);
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('#root > *').first().waitFor();
  return deviceOf(own, context, page);
}

/**
 * By the calls that the page makes: `one` begins to share where it does not yet, `other` joins.
 * Answers the six words that both saw.
 */
export async function pair(
  one: DeviceBrowser<Guest>,
  other: DeviceBrowser<Guest>,
  names: readonly [string, string] = ['Laptop', 'Phone'],
): Promise<readonly string[]> {
  await one.owner.call('shareHousehold', { deviceName: names[0] });
  await other.owner.call('beginJoin', { deviceName: names[1] });
  const shown = await untilJoining(other, 'offering');
  const { words } = await one.owner.call('beginInvite', { offer: shown.offer });
  const compared = await untilJoining(other, 'comparing');
  if (compared.words.join(' ') !== words.join(' '))
    throw new Error(`${compared.words.join(' ')} is not ${words.join(' ')}`);
  await other.owner.call('answerJoin', { same: true });
  await one.owner.call('answerInvite', { same: true });
  await other.until('being a device', () => true);
  return words;
}

type Joining = NonNullable<Extract<SyncStatus, { kind: 'alone' }>['joining']>;

export async function untilJoining<Step extends Joining['step']>(
  { owner }: DeviceBrowser<Guest>,
  step: Step,
): Promise<Extract<Joining, { step: Step }>> {
  for (const end = Date.now() + PATIENCE_MS; ; await pause(50)) {
    const status = await owner.call('syncStatus');
    const joining = status.kind === 'shared' ? null : status.joining;
    if (joining !== null && isStep(joining, step)) return joining;
    if (Date.now() > end) throw new Error(`waited for ${step}; it is ${JSON.stringify(status)}`);
  }
}
const isStep = <Step extends Joining['step']>(
  joining: Joining,
  step: Step,
): joining is Extract<Joining, { step: Step }> => joining.step === step;

/**
 * Waits until all of them hold the same documents, content and all; answers how many. Fails with
 * what differs.
 */
export async function untilEqual(devices: readonly DeviceBrowser<Guest>[], least = 0): Promise<number> {
  for (const end = Date.now() + PATIENCE_MS; ; await pause(250)) {
    const [first = new Map<string, unknown>(), ...others] = await Promise.all(
      devices.map(({ owner }) => owner.documents()),
    );
    const all = new Set([first, ...others].flatMap((docs) => [...docs.keys()]));
    const differing = [...all].filter((id) =>
      others.some((docs) => JSON.stringify(docs.get(id)) !== JSON.stringify(first.get(id))),
    );
    if (differing.length === 0 && first.size >= least) return first.size;
    if (Date.now() > end) {
      const counts = [first, ...others].map((docs) => docs.size).join(', ');
      throw new Error(
        `waited for equal ledgers of at least ${least} documents; there are ${counts}; ${differing.length} differ: ${differing.slice(0, 5).join(', ')}`,
      );
    }
  }
}
