/**
 * A household in one file: JSON Lines, gzipped, and under a passphrase wrapped in age's format
 * (https://age-encryption.org/v1), so that `age -d copy.jsonl.gz.age | gunzip` gives plain text.
 *
 * The first line is the header, the last one the footer, and each line between them a document as
 * the ledger holds it. The footer has the SHA-256 of all lines before it, line breaks included:
 * `head -n -1 copy.jsonl | sha256sum`.
 */
import { z } from 'zod';

export const headerSchema = z.looseObject({
  roost: z.literal('household'),
  version: z.number().int().min(1),
  exportedAt: z.number().int().min(0).describe('ms since the epoch'),
  documents: z
    .number()
    .int()
    .min(0)
    .describe('how many there were when it was begun; the footer knows how many there are'),
});
export type Header = z.infer<typeof headerSchema>;

export const footerSchema = z.looseObject({
  roost: z.literal('end'),
  documents: z.number().int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Footer = z.infer<typeof footerSchema>;
