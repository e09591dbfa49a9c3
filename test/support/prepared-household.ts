/**
 * A browser profile with a household in it that was made by the generator and written by the owner
 * itself, so that the real page, served from the same address, opens on years of messages.
 */
import { createProfile, type Guest } from './chromium.ts';
import type { HouseholdPlan } from './household-generator.ts';
import { drained } from './ledger-harness.ts';
import type {} from './ledger-page/main.ts';
import { buildPage, servePage } from './page-server.ts';

export interface PreparedHousehold {
  /** Nobody has it open. */
  readonly profile: Guest;
  readonly documents: number;
  /** ms until the last document was durable. */
  readonly appended: number;
  /** ms after that until the last document lay in a volume. */
  readonly drained: number;
}

/**
 * Writes the household to the origin `http://127.0.0.1:<port>`, where nothing may be served
 * meanwhile. Remove its profile yourself.
 */
export async function prepareHousehold(
  plan: HouseholdPlan,
  port: number,
  newProfile: () => Promise<Guest> = createProfile,
): Promise<PreparedHousehold> {
  const page = await buildPage('ledger-page');
  const server = await servePage(page, undefined, { port });
  const profile = await newProfile();
  try {
    const context = await profile.open();
    const tab = await context.newPage();
    await tab.goto(server.url);
    const began = performance.now();
    const documents = await tab.evaluate((given) => window.roost.load(given), plan);
    const appended = performance.now() - began;
    await drained(tab);
    const settled = performance.now() - began - appended;
    await context.close();
    return { profile, documents, appended, drained: settled };
  } catch (error) {
    await profile.remove();
    throw error;
  } finally {
    await server.close();
  }
}
