/** Webhooks of projects and routines. Loaded with the part of the page that shows them. */
import type { z } from 'zod';
import type { WebhookId } from '../../shared/domain/ids.ts';
import type { createdWebhookSchema, createWebhookSchema, Webhook } from '../../shared/protocol/webhooks.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';

/** A webhook with its secrets, which the relay sends only once. */
export type MadeWebhook = z.output<typeof createdWebhookSchema>;
type Made = { readonly ok: true; readonly made: MadeWebhook } | { readonly ok: false; readonly reason: string };

interface Webhooks {
  readonly list: Query<readonly Webhook[]>;
  create(webhook: z.input<typeof createWebhookSchema>): Promise<Made>;
  renew(webhookId: WebhookId): Promise<Made>;
  remove(webhookId: WebhookId): Promise<Done>;
}

function createWebhooks({
  callRelay,
  changes,
  device,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): Webhooks {
  const list = relayQuery<readonly Webhook[]>({ callRelay, changes, device }, ['webhooks'], async (client) =>
    mapResult(await client.webhooks(), ({ webhooks }) => webhooks),
  );
  async function madeOf(making: Promise<RelayResult<MadeWebhook>>): Promise<Made> {
    const result = await making;
    if (!result.ok) return { ok: false, reason: problemText(result.problem) };
    await list.again();
    return { ok: true, made: result.value };
  }
  return {
    list,
    create: (body) => madeOf(callRelay((client) => client.createWebhook({ body }))),
    renew: (webhookId) => madeOf(callRelay((client) => client.renewWebhook({ webhookId }))),
    async remove(webhookId) {
      const removed = await callRelay((client) => client.removeWebhook({ webhookId }));
      await list.again();
      return doneOf(removed);
    },
  };
}

export const webhooksOf = onePerPage(createWebhooks);
