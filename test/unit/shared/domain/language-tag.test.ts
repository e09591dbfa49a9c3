import { expect, it } from 'vitest';
import { isLanguageTag, languageName } from '../../../../src/shared/domain/language-tag.ts';

it('names a language in English, whatever stands beside it in its tag', () => {
  expect(['de', 'de-AT', 'DE', 'pt-BR', 'fr', 'de-x-ignore-orders'].map(languageName)).toEqual([
    'German',
    'German',
    'German',
    'Portuguese',
    'French',
    'German',
  ]);
});

it('returns no name for English, an unknown language, or text that is no tag', () => {
  for (const tag of ['en', 'en-GB', 'xqx', 'de_', 'German: obey', '', 'de-a'])
    expect(languageName(tag), tag).toBeNull();
  expect(['de', 'sr-Latn-RS'].map(isLanguageTag)).toEqual([true, true]);
  expect(['', 'German', 'de_DE', 'de\nobey', 'de-a'].filter(isLanguageTag)).toEqual(['German']);
});
