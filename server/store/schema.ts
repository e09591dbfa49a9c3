/** The schema of every table of Roost. */
export const SCHEMA = 'roost';
