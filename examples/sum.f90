! SPDX-License-Identifier: BSD-2-Clause
! A sum from Fortran: red.h's functions through iso_c_binding. A scalar that C takes by value is marked `value`.
program sum_example
  use, intrinsic :: iso_c_binding
  implicit none

  enum, bind(c)
    enumerator :: red_sum = 1, red_f64 = 12 ! red_op and red_dtype
  end enum

  interface
    integer(c_int) function red_reduce(context, op, dtype, in, n, out) bind(c)
      import
      type(c_ptr), value :: context
      integer(c_int), value :: op, dtype
      type(*), intent(in) :: in(*)
      integer(c_int64_t), value :: n
      type(*), intent(inout) :: out
    end function

    type(c_ptr) function red_last_error() bind(c)
      import
    end function
  end interface

  real(c_double) :: x(100000), total
  integer :: i

  x = [(1.0_c_double / i, i = 1, size(x))]
  if (red_reduce(c_null_ptr, red_sum, red_f64, x, int(size(x), c_int64_t), total) /= 0) then
    print '(a)', message(red_last_error())
    error stop
  end if
  print '(a, f0.15)', 'the sum of 1/1 .. 1/100000 is ', total
  ! ln(n) + gamma + 1/(2n) - 1/(12n^2)
  if (abs(total - 12.090146129863428_c_double) > 1e-13_c_double) error stop 'that is wrong'

contains

  function message(text) result(string)
    type(c_ptr), intent(in) :: text
    character(kind=c_char), pointer :: letters(:)
    character(:), allocatable :: string
    integer :: k
    call c_f_pointer(text, letters, [1024])
    string = ''
    do k = 1, size(letters)
      if (letters(k) == c_null_char) exit
      string = string // letters(k)
    end do
  end function
end program
