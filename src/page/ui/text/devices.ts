/** Describes the state of devices and of sync between them. */
import { t } from '../../language/t.ts';
import type { DeviceView, StoredElsewhere } from '../../../shared/protocol/sync/page.ts';
import { plural } from './sizes.ts';
import { ago, clockTime, dayWithin, isYoung } from './time.ts';

const seen = (lastSeen: number, now: number): string =>
  t`last seen ${isYoung(lastSeen, now) ? ago(lastSeen, now) : `${dayWithin(lastSeen, now)} ${clockTime(lastSeen)}`}`;

/** `added yesterday`, `let in yesterday by Laptop` */
export function cameText({ came, addedAt }: Pick<DeviceView, 'came' | 'addedAt'>, now: number): string {
  switch (came.kind) {
    case 'first':
      return t`added ${dayWithin(addedAt, now)}`;
    case 'let-in':
      return t`let in ${dayWithin(came.time, now)} by ${came.by}`;
    case 'unsaid':
      return t`added ${dayWithin(addedAt, now)}; none of the others says that it let this one in`;
    default:
      return came satisfies never;
  }
}

/**
 * `there now · direct connection · let in today by Laptop`, `last seen yesterday 23:41 · …`, `not
 * seen yet · added today`
 */
export function reachText(
  device: Pick<DeviceView, 'self' | 'online' | 'direct' | 'lastSeen' | 'addedAt' | 'came'>,
  now: number,
): string {
  const { self, online, direct, lastSeen } = device;
  const came = cameText(device, now);
  if (self) return came;
  if (online || direct) return t`there now${direct ? t` · direct connection` : ''} · ${came}`;
  return `${lastSeen === null ? t`not seen yet` : seen(lastSeen, now)} · ${came}`;
}

/** How much of this device's data has reached the relay. */
export function acknowledgedText({ toSend, link }: Pick<StoredElsewhere, 'toSend' | 'link'>): string {
  switch (link) {
    case 'live':
    case 'connecting':
    case 'lost':
      return toSend === 0
        ? t`Everything that is here has been handed to the relay.`
        : plural(toSend, 'entry waits for the relay.', 'entries wait for the relay.');
    case 'off':
      return t`Nothing is handed to the relay: you switched that off. What it was given before stays there, sealed.`;
    case 'locked-out':
      return t`This browser is not signed in. Press Enter in the terminal where Roost runs, and open the link that it prints.`;
    default:
      return link satisfies never;
  }
}

/** Against which losses of this device's storage the second copies protect. */
export function protectionText({ link, files }: Pick<StoredElsewhere, 'link' | 'files'>): string {
  if (link !== 'off')
    return files
      ? t`If the browser loses data, Roost restores your team from files on this device and from the relay. That needs the keys in this browser’s data.`
      : t`If the browser loses data, Roost restores your team from the relay. That needs the keys in this browser’s data. This browser cannot store a second copy on this device.`;
  return files
    ? t`If the browser loses data, Roost restores your team from files on this device. If you clear the browser’s data or lose this device, you need a copy or another device.`
    : t`This browser cannot store a second copy. If it loses data, you need a copy or another device to restore your team.`;
}
