# Writes english.txt: three novels of Jane Austen, one paragraph a line. Run by hand; see README.md.
# Usage: Rscript make_english.R > english.txt      (Debian: apt-get install r-cran-janeaustenr)
library(janeaustenr)

# Lines of a paragraph belong together; a blank line ends it, and an indented line (verse, an address, a
# signature) stays a line of its own.
join_paragraphs <- function(lines) {
  blank <- !nzchar(trimws(lines))
  indented <- grepl("^ ", lines)
  starts <- blank | indented | c(TRUE, head(blank | indented, -1))
  paragraphs <- vapply(split(lines, cumsum(starts)), function(part) paste(trimws(part), collapse = " "), "")
  unname(paragraphs)
}

clean <- function(lines) {
  lines <- lines[!grepl("^\\s*\\[At this point in the first", lines)]  # a remark of a later editor
  text <- join_paragraphs(lines)
  text <- gsub("_", "", text, fixed = TRUE)     # marks of emphasis, made by the transcribers
  text <- gsub(" +", " ", text)
  text[nzchar(text) | c(TRUE, nzchar(head(text, -1)))]  # one blank line between paragraphs, not several
}

books <- lapply(list(sensesensibility, prideprejudice, emma), clean)
text <- unlist(lapply(books, function(book) c(book, "", "")))
stopifnot(!grepl("[^ -~]", text), !grepl("gutenberg", text, ignore.case = TRUE))
writeLines(text)
