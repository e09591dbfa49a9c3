/** Hosts that a script may reach, as people write them. Pure. */
import { isExactHost } from '../../../shared/domain/network.ts';
import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS } from '../../../shared/protocol/schedules.ts';
import { revealedCode } from './unseen.ts';

/** Hosts in a text, one a line or with commas between. */
export const hostsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
];
/** What is wrong with them, as a sentence; null: nothing. */
export function wrongInHosts(hosts: readonly string[]): string | null {
  const odd = hosts.find((host) => !isExactHost(host));
  if (odd !== undefined)
    return t`${revealedCode(odd)} is no host. One is written by its own name: example.org or example.org:8443.`;
  return hosts.length > SCHEDULE_BOUNDS.hosts ? t`There is room for ${SCHEDULE_BOUNDS.hosts} hosts.` : null;
}
