/**
 * Applications: programs that are not agents and write under their own name.
 *
 * An application is the author `app:NAME`. No agent can have such an id (agent-id.ts), so its words
 * never pass for an agent's or the person's.
 */
import { shownName } from './names.ts';

export const APPLICATION_PREFIX = 'app:';

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
