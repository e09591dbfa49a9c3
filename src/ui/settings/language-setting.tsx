import { chosenLanguage, spoken } from '../../language/catalogue.ts';
import { chooseLanguage, LANGUAGES } from '../../language/fetch-texts.ts';
import { t } from '../../language/t.ts';
import { SelectSetting } from '../parts/select-setting.tsx';

/** In which language the page speaks: a choice of this browser's, since the next device may be somebody else's. */
export function LanguageSetting() {
  const chosen = chosenLanguage();
  const now = LANGUAGES[spoken.language]?.name ?? spoken.language;
  return (
    <SelectSetting
      label={t`Language`}
      hint={t`Of this page, on this device. Your agents answer in the language that you write to them.`}
      chosen={chosen}
      fallback={chosen === null ? t`As the browser: ${now}` : t`As the browser`}
      options={Object.entries(LANGUAGES).map(([code, { name }]) => ({ value: code, name, lang: code }))}
      onChoose={chooseLanguage}
    />
  );
}
