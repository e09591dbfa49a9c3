/** Parses and validates the hosts that a script may reach. Pure. */
import { isExactHost } from '../../../shared/domain/network.ts';
import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS } from '../../../shared/protocol/schedules.ts';
import { revealedCode } from './unseen.ts';

/** Hosts in a text, one per line or separated by commas. */
export const hostsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
];
/** The error as a sentence; null: none. */
export function wrongInHosts(hosts: readonly string[]): string | null {
  const odd = hosts.find((host) => !isExactHost(host));
  if (odd !== undefined) return t`${revealedCode(odd)} is no host. Write it as example.org or example.org:8443.`;
  return hosts.length > SCHEDULE_BOUNDS.hosts ? t`There is room for ${SCHEDULE_BOUNDS.hosts} hosts.` : null;
}
