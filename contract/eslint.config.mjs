export { default } from '../scripts/eslintNotShipped.mjs';
