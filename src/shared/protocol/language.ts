import { z } from 'zod';
import { isLanguageTag } from '../domain/language-tag.ts';
import { LIMITS } from './limits.ts';

/** The language of the person's page. Prompts contain only its name: see `languageName`. */
export const languageSchema = z
  .string()
  .max(LIMITS.languageTag)
  .refine(isLanguageTag, { error: 'is no tag of BCP 47, such as `de`' })
  .describe('that the person has the page in, as a tag of BCP 47; left out: English');
