/** What a model that is sent these files cannot be shown of them. */
import { readsOf } from '../../../shared/domain/model-reads.ts';
import { t } from '../../language/t.ts';
import { count } from '../text/sizes.ts';

/** A file that is about to be sent, as far as it matters to who reads it. */
interface Sent {
  readonly name: string;
  readonly mediaType: string;
  /** Of a PDF; left out: not known. */
  readonly pages?: number | undefined;
}

/** In sentences; null: it is shown all of them. `demo`: no model is connected. */
export function sightNote(
  model: 'demo' | { readonly id: string; readonly name: string },
  files: readonly Sent[],
): string | null {
  if (model === 'demo') {
    const unseen = files.filter(({ mediaType }) => mediaType !== 'text/plain');
    if (unseen.length === 0) return null;
    return unseen.length === 1
      ? t`No model is connected: the demo is told the name of this file, and sees nothing of it.`
      : t`No model is connected: the demo is told the names of these files, and sees nothing of them.`;
  }
  const most = readsOf(model.id)?.pdfPages ?? Infinity;
  const long = files.filter(({ pages = 0 }) => pages > 0);
  const pages = long.reduce((sum, each) => sum + (each.pages ?? 0), 0);
  if (pages <= most) return null;
  const [only] = long.length === 1 ? long : [];
  return only
    ? t`${only.name} has ${count(pages)} pages; ${model.name} reads ${count(most)} at once, and would be told the name alone. Attach a part, or choose a model that reads more.`
    : t`These PDFs have ${count(pages)} pages; ${model.name} reads ${count(most)} at once, and would be told the names alone. Attach fewer, or choose a model that reads more.`;
}
