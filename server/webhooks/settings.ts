/** Limits of webhooks. Times in ms. */
export const WEBHOOK_SETTINGS = {
  /** Webhooks of a household. */
  most: 50,
  /** Calls of one webhook that do something. */
  callsInAnHour: 60,
  hourMs: 3_600_000,
  /** How long a delivery is remembered. A repeat after that counts as new. */
  deliveriesKeptMs: 30 * 86_400_000,
  /** Characters of a delivery id. */
  deliveryId: 255,
  /** Maximum bytes of a body. GitHub's events are rarely larger. */
  bodyBytes: 1_000_000,
  bodyValues: 5_000,
  bodyDepth: 20,
  /** Characters of the secret that are stored, to tell it apart. */
  hint: 4,
} as const;
