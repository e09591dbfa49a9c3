/**
 * What a ledger must hold after any fault, seen through its owner and past it. Checks answer as
 * sentences; none is good.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { drained, ownerOf, volumesOf, type Household } from '../support/ledger-harness.ts';

const PAGE = 500;

/** Everything that the owner answers: what a page could ever show or copy. */
export interface Views {
  readonly documents: readonly Doc[];
  readonly household: unknown;
  /** By agent, oldest first. */
  readonly conversations: Readonly<Record<string, readonly Doc[]>>;
  readonly wakes: unknown;
}

export async function viewsOf(tab: Page, agentIds: readonly string[]): Promise<Views> {
  const { call } = ownerOf(tab);
  const conversations: Record<string, Doc[]> = {};
  for (const agentId of agentIds) {
    const pages: Doc[][] = [];
    for (let before: string | null = null, more = true; more; more = before !== null) {
      const page: Awaited<ReturnType<typeof call<'conversation'>>> = await call('conversation', {
        agentId,
        before,
        limit: PAGE,
      });
      pages.unshift([...page.messages]);
      before = page.before;
    }
    conversations[agentId] = pages.flat();
  }
  const documents: Doc[] = [];
  for (let after: string | null = null, more = true; more; more = after !== null) {
    const page: Awaited<ReturnType<typeof call<'documents'>>> = await call('documents', {
      after,
      limit: PAGE,
      agentId: null,
    });
    documents.push(...page.docs);
    after = page.after;
  }
  return {
    documents,
    household: await call('household'),
    conversations,
    wakes: await call('wakeMaterial', { agentIds, cap: 24_000 }),
  };
}

const some = (ids: readonly string[]) => `${ids.length} (${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''})`;
const doubled = (ids: readonly string[]) => ids.filter((id, i) => ids.indexOf(id) !== i);

/**
 * The documents that were acknowledged are among those, as they were written, and none is there
 * twice.
 */
export function faultsOfHeld(
  where: string,
  written: ReadonlyMap<string, Doc>,
  acknowledged: ReadonlySet<string>,
  held: readonly Doc[],
): string[] {
  const ids = held.map(({ _id }) => _id);
  const there = new Set(ids);
  const gone = [...acknowledged].filter((id) => !there.has(id));
  const changed = held.filter((doc) => !isDeepStrictEqual(doc, written.get(doc._id))).map(({ _id }) => _id);
  const twice = doubled(ids);
  return [
    ...(gone.length > 0 ? [`${some(gone)} acknowledged and not there`] : []),
    ...(twice.length > 0 ? [`${some(twice)} there twice`] : []),
    ...(changed.length > 0 ? [`${some(changed)} not as written`] : []),
  ].map((fault) => `${where}: ${fault}`);
}

/** In what views that were rebuilt differ from the live ones. */
function differences(live: Views, rebuilt: Views): string[] {
  const parts = [
    ['documents', live.documents, rebuilt.documents],
    ['household', live.household, rebuilt.household],
    ['wake material', live.wakes, rebuilt.wakes],
    ...Object.keys(live.conversations).map(
      (agentId) => [`conversation of ${agentId}`, live.conversations[agentId], rebuilt.conversations[agentId]] as const,
    ),
  ] as const;
  return parts.flatMap(([what, before, after]) => {
    if (isDeepStrictEqual(before, after)) return [];
    const ids = (docs: unknown) =>
      Array.isArray(docs)
        ? docs.map((doc: unknown) => (typeof doc === 'object' && doc !== null && '_id' in doc ? String(doc._id) : ''))
        : [];
    const [was, is] = [ids(before), ids(after)];
    const [lost, come] = [was.filter((id) => !is.includes(id)), is.filter((id) => !was.includes(id))];
    return [`the ${what} rebuilt from the volumes are not the live ones: ${some(lost)} missing, ${some(come)} more`];
  });
}

export interface Story {
  /** Every document that anybody tried to write, by id. */
  readonly written: ReadonlyMap<string, Doc>;
  /** Ids of those whose writing was answered. */
  readonly acknowledged: ReadonlySet<string>;
  readonly agentIds: readonly string[];
}

/**
 * Holds views, volumes and rebuilt views against what was acknowledged, and against each other.
 * Closes the tabs.
 */
export async function faultsOfLedgerAfter(home: Household, story: Story, query = ''): Promise<string[]> {
  const { written, acknowledged, agentIds } = story;
  let tab = await home.tab(query);
  const live = await viewsOf(tab, agentIds);
  const held = live.documents;
  const shown = Object.values(live.conversations)
    .flat()
    .map(({ _id }) => _id);
  await drained(tab);
  await home.closeTabs();
  const volumes = Object.values(await volumesOf(await home.tab('?closed')));
  const stored = volumes.flatMap(({ docs }) => docs);
  const storedIds = new Set(stored.map(({ _id }) => _id));
  const unlike = held.map(({ _id }) => _id).filter((id) => !storedIds.has(id));
  tab = await home.tab(query);
  const report = await ownerOf(tab).call('rebuild');
  const rebuilt = await viewsOf(tab, agentIds);
  await home.closeTabs();
  return [
    ...faultsOfHeld('the views', written, acknowledged, held),
    ...faultsOfHeld('the volumes', written, acknowledged, stored),
    ...volumes.flatMap(({ damaged }) => damaged.map((one) => `the volumes: ${JSON.stringify(one)}`)),
    ...(unlike.length > 0 || stored.length !== held.length
      ? [`the views hold ${held.length} documents and the volumes ${stored.length}; ${some(unlike)} in no volume`]
      : []),
    ...(doubled(shown).length > 0 ? [`the conversations show ${some(doubled(shown))} twice`] : []),
    ...report.faults.map((fault) => `the rebuild: ${fault}`),
    ...(report.repaired > 0 ? [`the rebuild had to repair ${report.repaired} documents`] : []),
    ...differences(live, rebuilt),
  ];
}
