import { useId } from 'react';
import { chosenLanguage, spoken } from '../../language/catalogue.ts';
import { chooseLanguage, LANGUAGES } from '../../language/fetch-texts.ts';
import { t } from '../../language/t.ts';

/** In which language the page speaks: a choice of this browser's, since the next device may be somebody else's. */
export function LanguageSetting() {
  const id = useId();
  const chosen = chosenLanguage();
  const now = LANGUAGES[spoken.language]?.name ?? spoken.language;
  return (
    <div className="setting">
      <label htmlFor={id}>{t`Language`}</label>
      <div className="setting-row">
        <select
          id={id}
          className="field field-select"
          aria-describedby={`${id}-hint`}
          value={chosen ?? ''}
          onChange={({ target }) => chooseLanguage(target.value === '' ? null : target.value)}
        >
          <option value="">{chosen === null ? t`As the browser: ${now}` : t`As the browser`}</option>
          {Object.entries(LANGUAGES).map(([code, { name }]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <p className="setting-hint" id={`${id}-hint`}>
        {t`Of this page, on this device. Your agents answer in the language that you write to them.`}
      </p>
    </div>
  );
}
