/** What the relay's other parts know of webhooks. */
import type { WebhookId } from '../../src/shared/domain/ids.ts';
import type {
  createdWebhookSchema,
  createWebhookSchema,
  Webhook,
  WebhookTask,
} from '../../src/shared/protocol/webhooks.ts';
import type { z } from 'zod';
import type { EventLog } from '../log/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { Schedules } from '../schedules/index.ts';
import type { Projects } from '../projects/board/index.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import type { Sealer } from '../platform/sealer.ts';
import type { HomeStore } from '../store/index.ts';
import type { WEBHOOK_SETTINGS } from './settings.ts';
import type { SetAside } from '../platform/set-aside.ts';

export type Target = Webhook['target'];
type Made = z.output<typeof createdWebhookSchema>;

/** A refusal of what a webhook was asked to do. `retryAfterMs`: when another try makes sense. */
export interface WebhookRefusal {
  readonly ok: false;
  readonly reason: 'gone' | 'off' | 'too-many-calls' | 'too-many';
  readonly detail: string;
  readonly retryAfterMs?: number;
}
export const refuse = (reason: WebhookRefusal['reason'], detail: string, retryAfterMs?: number): WebhookRefusal => ({
  ok: false,
  reason,
  detail,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
export const GONE = refuse('gone', 'There is no such webhook.');

/** One call of a stranger that is to do something. */
export interface Delivery {
  /**
   * What makes it the same delivery as another: the body where that is signed, its id elsewhere.
   * Empty: it is like no other.
   */
  readonly same: readonly string[];
  /** Null for a routine. */
  readonly task: WebhookTask | null;
  /** Names of the issue that the task is about. The webhook makes one task of it. */
  readonly issues?: readonly string[];
}

/** A webhook as its secret finds it. */
export interface FoundWebhook {
  readonly webhookId: WebhookId;
  readonly name: string;
  readonly target: Target;
  /** Only bodies with a signature are taken, and nothing beside them is trusted: no header. */
  readonly signed: boolean;
  /** Whether the body has this signature, as the header names it. */
  isSignedBy(body: Uint8Array, signature: string | undefined): boolean;
  deliver(delivery: Delivery): Promise<{ readonly ok: true; readonly repeated: boolean } | WebhookRefusal>;
  /** All these names are of one issue, as after its transfer to another repository. */
  link(issues: readonly string[]): Promise<void>;
}

export interface Webhooks {
  list(): Promise<readonly Webhook[]>;
  create(
    given: z.output<typeof createWebhookSchema>,
  ): Promise<{ readonly ok: true; readonly made: Made } | WebhookRefusal>;
  /** Null: there is no such webhook. */
  renew(webhookId: WebhookId): Promise<Made | null>;
  remove(webhookId: WebhookId): Promise<boolean>;
  /** Null: no webhook has this secret. */
  find(secret: string): Promise<FoundWebhook | null>;
  /** Deletes webhooks whose project or routine is gone. Called once, at the start. */
  recover(): Promise<void>;
  /** Resolves when nothing is under way. */
  close(): Promise<void>;
}

export interface WebhooksDeps extends HomeStore {
  readonly sealer: Sealer;
  readonly projects: Pick<Projects, 'read' | 'task' | 'createTask'>;
  readonly schedules: Pick<Schedules, 'get' | 'trigger'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly tell: (event: RoostEvent) => void;
  /** In ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  readonly settings?: typeof WEBHOOK_SETTINGS;
}
