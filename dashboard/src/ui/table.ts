export interface Column {
  id: string
  title: string
  /** The title is for screen readers only. */
  hideTitle?: boolean
  /** `end` for figures: they get digits of one width. */
  align?: 'start' | 'end'
  /** Takes the space that is left, and is cut off with an ellipsis. */
  grow?: boolean
  /** Left out on phones. */
  wideOnly?: boolean
  sortable?: boolean
  /** The order of the first click. */
  first?: 'ascending' | 'descending'
}

export interface Sort {
  by: string
  order: 'ascending' | 'descending'
}
