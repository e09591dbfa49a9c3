/**
 * Authors from outside: applications, which are programs that write under their own name, and
 * webhooks, through which strangers write.
 *
 * An application is the author `app:NAME`, a webhook `hook:NAME`. No agent can have such an id
 * (agent-id.ts), so their words never pass for an agent's or the person's.
 */
import { shownName } from './names.ts';

const APPLICATION_PREFIX = 'app:';

export const applicationId = (name: string): string => `${APPLICATION_PREFIX}${name}`;

export const isApplicationId = (id: string): boolean =>
  id.startsWith(APPLICATION_PREFIX) && id.length > APPLICATION_PREFIX.length;

/** The name in an application's id, as people read it. Null: the id is not an application's. */
export const applicationNameOf = (id: string): string | null =>
  isApplicationId(id) ? shownName(id.slice(APPLICATION_PREFIX.length), 'label') : null;

/** The application as models read it. Null: the id is not an application's. */
export function applicationText(id: string): string | null {
  const name = applicationNameOf(id);
  return name === null ? null : `the application “${name}”`;
}

const WEBHOOK_PREFIX = 'hook:';

export const webhookAuthor = (name: string): string => `${WEBHOOK_PREFIX}${name}`;

/** The name in a webhook's id, as people read it. Null: the id is not a webhook's. */
export const webhookNameOf = (id: string): string | null =>
  id.startsWith(WEBHOOK_PREFIX) && id.length > WEBHOOK_PREFIX.length
    ? shownName(id.slice(WEBHOOK_PREFIX.length), 'label')
    : null;

/** The webhook as models read it. Null: the id is not a webhook's. */
export function webhookText(id: string): string | null {
  const name = webhookNameOf(id);
  return name === null ? null : `a stranger, through the webhook “${name}”`;
}
