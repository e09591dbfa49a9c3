/**
 * What a person is told of while they look elsewhere, and what page and service worker have in
 * common for it.
 */

/**
 * approval: an agent asks for a yes; failure: a run that nobody watched failed; mention: an agent
 * left a message for the person, or named them in a thread; answer: one that took long is whole;
 * night: what agents did by themselves.
 */
export const NOTIFICATION_KINDS = ['approval', 'failure', 'mention', 'answer', 'night'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

export const TOLD = {
  /**
   * Where the page leaves for the service worker what it needs to renew a subscription by itself.
   */
  cache: 'roost-told',
  kept: '/told',
  /** Where it leaves how much waits, for the icon while it is closed. */
  waits: '/waits',
} as const;

/** How much waited when a page was open last. `at`: ms since the epoch. */
export interface KeptWaits {
  readonly count: number;
  readonly at: number;
}

/**
 * Of each kind what it is called, with `{name}` for whoever it is about; of one that is over, and
 * of one that cannot be read.
 */
export type ToldTexts = Readonly<Record<NotificationKind | 'over' | 'unread', string>>;

/** What is kept for renewing: the call by which the device says what it is told. */
export interface KeptForRenewal {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its `subscription` is the one that is over. */
  readonly choice: object;
  /** In the language of the page. */
  readonly texts: ToldTexts;
}
