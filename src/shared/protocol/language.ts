import { z } from 'zod';
import { isLanguageTag } from '../domain/language-tag.ts';
import { LIMITS } from './limits.ts';

/** The language of the person's page. Prompts contain only its name: see `languageName`. */
export const languageSchema = z
  .string()
  .max(LIMITS.languageTag)
  .refine(isLanguageTag, { error: 'is no tag of BCP 47, such as `de`' })
  .describe('the language of the person’s page, as a BCP 47 tag; left out: English');
