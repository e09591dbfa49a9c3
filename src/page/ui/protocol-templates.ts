/** The templates from CLAUDE.md. Loaded only with the pages that show them. */
// The one file outside of src that the page reads: the only source of the templates.
// eslint-disable-next-line boundaries/dependencies
import document from '../../../CLAUDE.md?raw';
import { parseProtocol } from '../../shared/domain/prompts.ts';

export const TEMPLATES = parseProtocol(document).templates;
