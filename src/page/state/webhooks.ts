/** Hooks of projects and routines. Loaded with the part of the page that shows them. */
import type { z } from 'zod';
import type { HookId } from '../../shared/domain/ids.ts';
import type { createdHookSchema, createHookSchema, Hook } from '../../shared/protocol/hooks.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query } from './query.ts';
import { mapResult } from './reach.ts';

/** A hook with its secrets, which the relay sends only once. */
export type MadeHook = z.output<typeof createdHookSchema>;
type Made = { readonly ok: true; readonly made: MadeHook } | { readonly ok: false; readonly reason: string };

interface Webhooks {
  readonly list: Query<readonly Hook[]>;
  create(hook: z.input<typeof createHookSchema>): Promise<Made>;
  renew(hookId: HookId): Promise<Made>;
  remove(hookId: HookId): Promise<Done>;
}

function createWebhooks({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): Webhooks {
  const list = createQuery<readonly Hook[]>({
    ask: async () => mapResult(await reach((client) => client.hooks()), ({ hooks }) => hooks),
    changes,
    device,
    what: ['hooks'],
  });
  async function madeOf(asked: Promise<RelayResult<MadeHook>>): Promise<Made> {
    const result = await asked;
    if (!result.ok) return { ok: false, reason: problemText(result.problem) };
    await list.again();
    return { ok: true, made: result.value };
  }
  return {
    list,
    create: (body) => madeOf(reach((client) => client.createHook({ body }))),
    renew: (hookId) => madeOf(reach((client) => client.renewHook({ hookId }))),
    async remove(hookId) {
      const removed = await reach((client) => client.removeHook({ hookId }));
      await list.again();
      return doneOf(removed);
    },
  };
}

export const webhooksOf = onePerPage(createWebhooks);
