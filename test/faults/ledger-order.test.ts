import { describe, expect, it } from 'vitest';
import { messageDoc } from '../support/documents.ts';
import { ownerOf } from '../support/ledger-harness.ts';
import { viewsOf } from './ledger-checks.ts';
import { useOwnerPage } from './owner-page.ts';

const { home } = useOwnerPage();

describe('an edit that names a message of another conversation', () => {
  const target = messageDoc(1, { agentId: 'a1' });
  const later = messageDoc(2, { agentId: 'a2' });
  const edit = messageDoc(3, { agentId: 'a2', role: 'user', author: 'human', replaces: target.messageId });

  it.each([
    { order: 'after its target', docs: [target, later, edit] },
    { order: 'before it', docs: [edit, later, target] },
  ])('hides nothing, come $order, and nothing after a rebuild', async ({ docs }) => {
    const tab = await home().tab();
    const { call } = ownerOf(tab);
    for (const doc of docs) await call('append', [doc]);
    const live = await viewsOf(tab, ['a1', 'a2']);
    expect(live.conversations).toEqual({ a1: [target], a2: [later, edit] });
    expect(await call('rebuild')).toMatchObject({ repaired: 0, faults: [] });
    expect(await viewsOf(tab, ['a1', 'a2'])).toEqual(live);
  });
});
