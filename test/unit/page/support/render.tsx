/** The page over the real stores, with in-memory stand-ins for the ledger and the relay only. */
import { act, render, type RenderResult } from '@testing-library/react';
import userEvent, { type UserEvent } from '@testing-library/user-event';
import { App } from '../../../../src/page/ui/app.tsx';
import { fetchLaterParts } from '../../../../src/page/ui/later.ts';
import { RoostProvider } from '../../../../src/page/ui/context.tsx';
import { createRoostState, type RoostState } from '../../../../src/page/state/index.ts';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import type { RoostEvent, Snapshot } from '../../../../src/shared/protocol/events.ts';
import type { WorkerNews } from '../../../../src/shared/protocol/worker.ts';
import { setWidth } from '../../../support/ui-window.ts';
import {
  memoryExports,
  memoryOwner,
  memoryRelay,
  testDevice,
  type MemoryExports,
  type MemoryOwner,
  type MemoryRelay,
  type TestDevice,
} from './fakes.ts';
import { NOW, NO_SESSION_SNAPSHOT } from './household.ts';
import { memoryReach, type MemoryReach } from './reach.ts';

export interface Page extends RenderResult {
  readonly state: RoostState;
  readonly owner: MemoryOwner;
  readonly relay: MemoryRelay;
  readonly reach: MemoryReach;
  readonly exports: MemoryExports;
  readonly device: TestDevice;
  readonly user: UserEvent;
  /** The owner says this, and the page has heard it. */
  say(news: WorkerNews): Promise<void>;
  /** The relay's next event. */
  hear(event: RoostEvent): Promise<void>;
}

interface Options {
  readonly docs: readonly Doc[];
  readonly path?: string;
  readonly snapshot?: Snapshot | null;
  readonly link?: Extract<WorkerNews, { news: 'link' }>['link'];
  readonly width?: number;
  readonly prepare?: (parts: {
    owner: MemoryOwner;
    relay: MemoryRelay;
    exports: MemoryExports;
    reach: MemoryReach;
    device: TestDevice;
  }) => void;
}

export async function openPage({
  docs,
  path = '/',
  snapshot = NO_SESSION_SNAPSHOT,
  link = { kind: 'live' },
  width: px = 1440,
  prepare,
}: Options): Promise<Page> {
  setWidth(px);
  history.replaceState(null, '', path);
  const owner = memoryOwner(docs);
  const relay = memoryRelay();
  const exports = memoryExports();
  const reach = memoryReach();
  const device = testDevice(NOW);
  prepare?.({ owner, relay, exports, reach, device });
  // As in a browser that has been open for a while: no test waits for a part of the page.
  await Promise.all([fetchLaterParts(), import('../../../../src/page/ui/welcome/first.ts')]);
  const state = createRoostState({ dataWorker: owner, relay, callRelay: reach.port, exports, device, node: 'test' });
  const user = userEvent.setup();
  let result: RenderResult | undefined;
  await act(async () => {
    state.start();
    owner.say({ news: 'welcome', link, snapshot, answers: [], problem: null });
    result = render(
      <RoostProvider state={state}>
        <App />
      </RoostProvider>,
    );
    await new Promise((resolve) => setTimeout(resolve));
  });
  if (!result) throw new Error('nothing was rendered');
  let id = 1000;
  const say: Page['say'] = (news) =>
    act(async () => {
      owner.say(news);
      await Promise.resolve();
    });
  return {
    ...result,
    state,
    owner,
    relay,
    reach,
    exports,
    device,
    user,
    say,
    hear: (event) => say({ news: 'event', stored: { id: ++id, event } }),
  };
}
