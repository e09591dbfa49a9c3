import { expect, test } from 'vitest';
import { documentsOf } from '../../../../../src/shared/protocol/intake.ts';
import { at, NOW, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

test('records of the relay come into the page when they are stored, all of them at once', async () => {
  const page = await openPage({ docs: team(2) });
  const events = Array.from({ length: 12 }, (_, i) => ({
    ...{ kind: 'record' as const, time: NOW, at: at(NOW + i) },
    record: { type: 'prices' as const, id: `prices ${i}`, value: { prices: [] } },
  }));
  let changes = 0;
  const { household } = page.state;
  household.store.subscribe(() => changes++);
  for (const event of events) await page.hear(event);
  expect(changes).toBe(0);
  const docs = events.flatMap((event, id) => documentsOf({ id, event }));
  await page.say({ news: 'documents', docs });
  expect(changes).toBe(1);
  expect(household.store.getState().records.size).toBe(events.length);
});
